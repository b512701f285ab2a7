import type { Codex } from "../codex.ts";
import type { Thread } from "../thread/thread.ts";
import type { StartThreadOptions } from "../thread/thread-options.ts";
import { exitError } from "./errors.ts";
import { findThread } from "./find-thread.ts";
import { COMPAT_LIMITS } from "./limits.ts";
import { toThreadSettings, type ThreadSetup } from "./thread-settings.ts";
import type { WarningLog } from "./warning-log.ts";

/** Calls a listener when the server's process ends, or immediately if it has ended. */
export type ExitListeners = (listener: () => void) => Disposable;

/**
 * Loads a thread for one turn and unloads it afterwards. Only one process at a time can have a thread loaded; as with
 * `codex exec`, none has it between turns. Loading rereads the configuration and AGENTS.md.
 */
export class ThreadLoader {
  readonly #codex: Codex;
  readonly #warnings: WarningLog;
  readonly #onExit: ExitListeners;

  constructor(codex: Codex, warnings: WarningLog, onExit: ExitListeners) {
    this.#codex = codex;
    this.#warnings = warnings;
    this.#onExit = onExit;
  }

  async start(setup: ThreadSetup): Promise<Thread> {
    const { threadSource = "user" } = setup.options;
    const settings = await this.#settings(setup, "start");
    return this.#codex.startThread({
      ...settings,
      threadSource,
      historyMode: "paginated",
      bufferEvents: true,
    });
  }

  /** Resumes a thread by id or by name. Starts a new one if no thread has that name. */
  async resume(idOrName: string, setup: ThreadSetup): Promise<Thread> {
    const id = await findThread(this.#codex, idOrName, setup.cwd);
    if (id === undefined) return this.start(setup);
    return this.#codex.resumeThread(id, { ...(await this.#settings(setup, "resume")), bufferEvents: true });
  }

  /** Resolves when other processes can load the thread. Never rejects. */
  async unload(thread: Thread): Promise<void> {
    await this.#untilUnloaded(thread.id, () => thread.close());
  }

  /** Unloads the thread of a subagent, which the server loaded by itself. */
  async unloadById(threadId: string): Promise<void> {
    await this.#untilUnloaded(threadId, async () => {
      const { status } = await this.#codex.request("thread/unsubscribe", { threadId });
      // Without a subscription there would be no notification.
      if (status !== "unsubscribed") throw new Error(`Thread ${threadId} is ${status}.`);
    });
  }

  async #settings(setup: ThreadSetup, to: "start" | "resume"): Promise<StartThreadOptions> {
    const [settings] = await Promise.all([
      toThreadSettings(this.#codex, setup, to),
      // The server would otherwise use its cached skills.
      this.#codex.request("skills/list", { cwds: [setup.cwd], forceReload: true }),
    ]);
    const { rulesError } = this.#warnings;
    if (rulesError !== undefined) throw exitError("code 1", `Error loading rules:\n${rulesError}\n`);
    return settings;
  }

  async #untilUnloaded(threadId: string, unsubscribe: () => Promise<unknown>): Promise<void> {
    const ended = Promise.withResolvers<void>();
    using _listener = this.#codex.on("thread/closed", (closed) => {
      if (closed.threadId === threadId) ended.resolve();
    });
    using _exit = this.#onExit(() => ended.resolve());
    const limit = setTimeout(() => ended.resolve(), COMPAT_LIMITS.unloadTimeoutMs);
    // A rejection means that there is nothing to unload.
    unsubscribe().catch(() => ended.resolve());
    await ended.promise;
    clearTimeout(limit);
  }
}
