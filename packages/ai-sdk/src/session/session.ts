import type { Thread } from "codexkit";
import { limits } from "../limits.ts";
import { orAborted } from "../or-aborted.ts";
import { Transcript } from "../transcript/transcript.ts";
import type { AskDesk } from "./ask-desk.ts";
import { leaveTurn } from "./leave-turn.ts";
import type { LastingSettings } from "./thread-options.ts";
import type { TurnRun } from "./turn-run.ts";
import type { Workspace } from "./workspace.ts";

export interface SessionOptions {
  readonly thread: Thread;
  readonly desk: AskDesk;
  /** Whether Codex stores the thread, so that it can be forked, and resumed by another process. */
  readonly isStored: boolean;
  /** What sort of thread the call wanted that it is held for. */
  readonly kind: string;
  /** The tools that the thread has, with a fingerprint each; undefined where another process gave it some. */
  readonly tools: ReadonlyMap<string, string> | undefined;
  readonly instructions: string | undefined;
  readonly settings: LastingSettings;
  /** Whether nothing has been said in it yet. */
  readonly isEmpty: boolean;
  /** How long a turn waits for its client. */
  readonly waitMs: number;
  /** Whether the thread has MCP servers, each with processes of its own. */
  readonly hasMcpServers: boolean;
  readonly hasWarnedOfChange?: boolean;
  /** The process that has the thread loaded; undefined for a server that was connected to. */
  readonly pid: number | undefined;
}

/** A thread that this provider holds, and the turn on it: one at a time, from its start to its end. */
export class Session {
  readonly thread: Thread;
  readonly desk: AskDesk;
  readonly isStored: boolean;
  readonly kind: string;
  readonly tools: ReadonlyMap<string, string> | undefined;
  /** The developer's instructions that the thread has been given last. */
  instructions: string | undefined;
  /** What the next turn runs with unless it says otherwise. */
  settings: LastingSettings;
  isEmpty: boolean;
  /** What the thread has seen, as far as prompts show it. */
  transcript: Transcript = new Transcript();
  /** Whether the thread has MCP servers, each with processes of its own. */
  hasMcpServers: boolean;
  /** Whether the caller knows that this conversation was changed behind its thread's back. */
  hasWarnedOfChange: boolean;
  /** Digest of the input of the last turn, if the model failed in it: a retry must not repeat the input. */
  failedInput: string | undefined;
  readonly pid: number | undefined;
  /** The temporary folder that the thread works in, which ends with it. */
  workspace: Workspace | undefined;
  /** The turn that runs, or that ended while nobody read it. */
  run: TurnRun | undefined;
  #line: Promise<void> = Promise.resolve();
  #users = 0;
  #isLeaving = false;
  #idleSince = performance.now();
  readonly #waitMs: number;
  #parked: NodeJS.Timeout | undefined;
  #unanswered: NodeJS.Timeout | undefined;
  #onReturn: () => void = () => {};

  constructor(options: SessionOptions) {
    this.thread = options.thread;
    this.desk = options.desk;
    this.isStored = options.isStored;
    this.kind = options.kind;
    this.tools = options.tools;
    this.instructions = options.instructions;
    this.settings = options.settings;
    this.isEmpty = options.isEmpty;
    this.hasMcpServers = options.hasMcpServers;
    this.pid = options.pid;
    this.hasWarnedOfChange = options.hasWarnedOfChange ?? false;
    this.#waitMs = options.waitMs;
    this.desk.onChange(() => this.#watchAsks());
  }

  /** Whether no turn runs, waits or is about to, be it one of the thread's queue. */
  get isIdle(): boolean {
    return this.#users === 0 && !this.isParked && !this.thread.busy;
  }

  /** Whether the next call may have the thread: nothing runs on it but a turn that was abandoned and is about to end. */
  get isFree(): boolean {
    return this.isIdle || (this.#isLeaving && this.#users === 1);
  }

  /** For how many milliseconds nobody has used it. */
  get idleMs(): number {
    return this.isIdle ? performance.now() - this.#idleSince : 0;
  }

  get isParked(): boolean {
    return this.#parked !== undefined;
  }

  /** Resolves when the thread is this caller's, to a function that gives it to the next one. */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    const before = this.#line;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Whoever gives up keeps their place until those before them are done: the next one must not overtake those.
    this.#line = before.then(() => promise);
    this.#users += 1;
    const leave = (): void => {
      this.#users -= 1;
      this.#idleSince = performance.now();
      resolve();
    };
    try {
      await orAborted(before, signal);
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /**
   * The turn waits for its client, though not for ever.
   * @param onReturn Called once, when the client is back or is waited for no longer.
   */
  park(onReturn: () => void): void {
    this.unpark();
    this.#onReturn = onReturn;
    // It is the app that is waited for: an app that is done need not wait for itself.
    this.#parked = setTimeout(() => this.abandon(this.#noAnswer), this.#waitMs).unref();
  }

  /** The client is back. */
  unpark(): void {
    clearTimeout(this.#parked);
    this.#parked = undefined;
    this.#onReturn();
    this.#onReturn = () => {};
    // What is still unanswered has as long again: it is about to be shown once more.
    clearTimeout(this.#unanswered);
    this.#unanswered = undefined;
    this.#watchAsks();
  }

  /** A turn that ended while it waited: nobody came for what it had left to say. */
  forgetParked(): void {
    if (!this.isParked) return;
    this.unpark();
    this.run?.end();
    this.run = undefined;
  }

  /** The client does not come back: what the turn asked is refused, and the turn stopped. */
  abandon(reason: string): void {
    const { run } = this;
    this.unpark();
    this.run = undefined;
    if (run === undefined) return;
    this.#isLeaving = true;
    void run.ended.then(() => {
      this.#isLeaving = false;
    });
    void leaveTurn(run, this.desk, reason);
  }

  get #noAnswer(): string {
    return `No answer came within ${this.#waitMs} ms.`;
  }

  /** What is asked in a stream that nobody reads would wait for ever, and with it everybody who waits for the thread. */
  #watchAsks(): void {
    if (this.desk.isWaiting) {
      this.#unanswered ??= setTimeout(() => this.stop(this.#noAnswer), this.#waitMs).unref();
    } else {
      clearTimeout(this.#unanswered);
      this.#unanswered = undefined;
    }
  }

  /** Refuses what the turn asks, and interrupts it. */
  stop(reason: string): void {
    if (this.isParked) {
      this.abandon(reason);
    } else {
      this.desk.refuseAll(reason);
      this.run?.interrupt();
    }
  }

  async releaseWorkspace(): Promise<void> {
    const { workspace } = this;
    this.workspace = undefined;
    await workspace?.release();
  }

  /** @param leaves Whether a turn that waits for its client is left to whoever goes on with it on the same server. */
  async close({ leaves = false }: { readonly leaves?: boolean } = {}): Promise<void> {
    if (leaves && this.isParked) {
      // Not even unsubscribed: the connection is about to end, and the server keeps what it asked.
      this.unpark();
      return;
    }
    this.stop("The provider was closed.");
    // A turn must not go on for nobody; a server that is gone, or says nothing, is not waited for.
    await this.thread.interrupt({ signal: AbortSignal.timeout(limits.interruptMs) }).catch(() => {});
    try {
      await this.thread.close();
    } finally {
      await this.releaseWorkspace();
    }
  }
}
