import { setTimeout as delay } from "node:timers/promises";
import type { Codex } from "../codex.ts";
import { CodexError } from "../errors.ts";
import type { Thread } from "../thread/thread.ts";
import { findThread } from "./find-thread.ts";
import { setupKey, threadSettings, type ThreadSetup } from "./thread-settings.ts";

const TIMES = {
  /** How long a thread stays loaded after a turn. The next turn is then quick; nobody else can use the thread until then. */
  lingerMs: 1_000,
  /** How long the server may take to unload a thread. It takes milliseconds. */
  unloadMs: 2_000,
  /** How long to wait for a thread that another process has: one like this lets go of it within `lingerMs`. */
  lockedMs: 4_000,
  lockedPollMs: 50,
} as const;

interface Held {
  readonly thread: Thread;
  readonly key: string;
  linger?: NodeJS.Timeout;
}

/** The threads that one server has loaded. Between turns a thread belongs to no process, as it did with `codex exec`. */
export class HeldThreads {
  readonly #codex: Codex;
  readonly #held = new Map<string, Held>();

  constructor(codex: Codex) {
    this.#codex = codex;
  }

  has(threadId: string): boolean {
    return this.#held.has(threadId);
  }

  async start(setup: ThreadSetup): Promise<Thread> {
    const { threadSource = "user" } = setup.options;
    const settings = await threadSettings(this.#codex, setup, "start");
    const thread = await this.#codex.startThread({ ...settings, threadSource, historyMode: "paginated" });
    return this.#keep(thread, setup);
  }

  /** The thread, loaded with this setup. An id that is none is a thread's name; one that nobody has starts a thread. */
  async resume(idOrName: string, setup: ThreadSetup): Promise<Thread> {
    const id = await findThread(this.#codex, idOrName, setup.cwd);
    if (id === undefined) return this.start(setup);
    const held = this.#held.get(id);
    clearTimeout(held?.linger);
    if (held?.key === setupKey(setup)) return held.thread;
    await this.letGo(id);
    const settings = await threadSettings(this.#codex, setup, "resume");
    return this.#keep(await this.#whenUnlocked(() => this.#codex.resumeThread(id, settings)), setup);
  }

  /** After a turn: lets go of the thread soon, unless another turn comes. */
  linger(threadId: string): void {
    const held = this.#held.get(threadId);
    if (!held) return;
    held.linger = setTimeout(() => void this.letGo(threadId).catch(() => {}), TIMES.lingerMs);
    held.linger.unref();
  }

  /** Gives the thread back: its lock is free when this returns. */
  async letGo(threadId: string): Promise<void> {
    const held = this.#held.get(threadId);
    if (!held) return;
    this.#held.delete(threadId);
    clearTimeout(held.linger);
    const unloaded = Promise.withResolvers<void>();
    using _hearing = this.#codex.on("thread/closed", (closed) => {
      if (closed.threadId === threadId) unloaded.resolve();
    });
    const limit = setTimeout(() => unloaded.resolve(), TIMES.unloadMs);
    try {
      await held.thread.close();
      await unloaded.promise;
    } finally {
      clearTimeout(limit);
    }
  }

  /** The server goes: its threads go with it. */
  forget(): void {
    for (const { linger } of this.#held.values()) clearTimeout(linger);
    this.#held.clear();
  }

  #keep(thread: Thread, setup: ThreadSetup): Thread {
    this.#held.set(thread.id, { thread, key: setupKey(setup) });
    return thread;
  }

  async #whenUnlocked(resume: () => Promise<Thread>): Promise<Thread> {
    const until = Date.now() + TIMES.lockedMs;
    for (;;) {
      try {
        return await resume();
      } catch (error) {
        const locked = error instanceof CodexError && error.code === "thread_locked";
        if (!locked || Date.now() > until) throw error;
        await delay(TIMES.lockedPollMs);
      }
    }
  }
}
