import type { Codex } from "../codex.ts";
import type { Thread } from "../thread/thread.ts";
import type { StartThreadOptions } from "../thread/thread-options.ts";
import { exitError } from "./errors.ts";
import { findThread } from "./find-thread.ts";
import type { NoticeLog } from "./notice-log.ts";
import { threadSettings, type ThreadSetup } from "./thread-settings.ts";

/** How long the server may take to unload a thread. It takes milliseconds, and longer if MCP servers are slow to end. */
const UNLOAD_MS = 4_000;

/** Calls a listener when the server's process has ended, or at once if it has. */
export type ExitListeners = (listener: () => void) => Disposable;

/**
 * Loads a thread for one turn and unloads it afterwards. Only one process at a time can have a thread loaded; between
 * turns none has it, as with `codex exec`. Loading reads the configuration and AGENTS.md again.
 */
export class ThreadLoader {
  readonly #codex: Codex;
  readonly #notices: NoticeLog;
  readonly #onExit: ExitListeners;

  constructor(codex: Codex, notices: NoticeLog, onExit: ExitListeners) {
    this.#codex = codex;
    this.#notices = notices;
    this.#onExit = onExit;
  }

  async start(setup: ThreadSetup): Promise<Thread> {
    const { threadSource = "user" } = setup.options;
    const settings = await this.#settings(setup, "start");
    return this.#codex.startThread({ ...settings, threadSource, historyMode: "paginated" });
  }

  /** Anything but a thread id is a thread's name; a name that no thread has starts a thread. */
  async resume(idOrName: string, setup: ThreadSetup): Promise<Thread> {
    const id = await findThread(this.#codex, idOrName, setup.cwd);
    if (id === undefined) return this.start(setup);
    return this.#codex.resumeThread(id, await this.#settings(setup, "resume"));
  }

  /** Other processes can load the thread once this resolves. Never rejects. */
  async unload(thread: Thread): Promise<void> {
    await this.#untilUnloaded(thread.id, () => thread.close());
  }

  /** The same for the thread of a subagent, which the server loaded by itself. */
  async unloadById(threadId: string): Promise<void> {
    await this.#untilUnloaded(threadId, async () => {
      const { status } = await this.#codex.request("thread/unsubscribe", { threadId });
      // Without a subscription to end, nothing would be reported.
      if (status !== "unsubscribed") throw new Error(`Thread ${threadId} is ${status}.`);
    });
  }

  async #settings(setup: ThreadSetup, to: "start" | "resume"): Promise<StartThreadOptions> {
    const [settings] = await Promise.all([
      threadSettings(this.#codex, setup, to),
      // The server would otherwise remember the skills that it found before.
      this.#codex.request("skills/list", { cwds: [setup.cwd], forceReload: true }),
    ]);
    const { rulesError } = this.#notices;
    if (rulesError !== undefined) throw exitError("code 1", `Error loading rules:\n${rulesError}\n`);
    return settings;
  }

  async #untilUnloaded(threadId: string, unsubscribe: () => Promise<unknown>): Promise<void> {
    const ended = Promise.withResolvers<void>();
    using _listener = this.#codex.on("thread/closed", (closed) => {
      if (closed.threadId === threadId) ended.resolve();
    });
    using _exit = this.#onExit(() => ended.resolve());
    const limit = setTimeout(() => ended.resolve(), UNLOAD_MS);
    // A refusal means that there is nothing to unload.
    unsubscribe().catch(() => ended.resolve());
    await ended.promise;
    clearTimeout(limit);
  }
}
