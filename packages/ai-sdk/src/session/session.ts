import type { Thread } from "codexkit";
import { AI_SDK_LIMITS } from "../limits.ts";
import { raceAbort, SerialQueue } from "@codexkit/rpc/async";
import { Transcript } from "../transcript/transcript.ts";
import type { ClientRequestBroker } from "../requests/client-request-broker.ts";
import { abandonTurn } from "./abandon-turn.ts";
import type { LastingSettings } from "./thread-options.ts";
import type { TurnRun } from "./turn-run.ts";
import type { Workspace } from "./workspace.ts";

export interface SessionOptions {
  readonly thread: Thread;
  readonly broker: ClientRequestBroker;
  /** Whether Codex stores the thread, so that it can be forked, or resumed by another process. */
  readonly isStored: boolean;
  /** The kind of thread, from the call that opened it. */
  readonly kind: string;
  /** Fingerprints of the thread's tools by name. Undefined if another process set them. */
  readonly tools: ReadonlyMap<string, string> | undefined;
  readonly instructions: string | undefined;
  readonly settings: LastingSettings;
  /** Whether the thread has no messages yet. */
  readonly isEmpty: boolean;
  /** How long a turn waits for its client. */
  readonly waitMs: number;
  /** Whether the thread has MCP servers, which run in their own processes. */
  readonly hasMcpServers: boolean;
  readonly hasWarnedOfChange?: boolean;
  /** PID of the codex that holds the thread. Undefined for an existing server. */
  readonly pid: number | undefined;
}

/** A thread that this provider holds, with at most one turn at a time. */
export class Session {
  readonly thread: Thread;
  readonly broker: ClientRequestBroker;
  readonly isStored: boolean;
  readonly kind: string;
  readonly tools: ReadonlyMap<string, string> | undefined;
  /** The thread's current developer instructions. */
  instructions: string | undefined;
  /** Settings for the next turn, unless its call overrides them. */
  settings: LastingSettings;
  isEmpty: boolean;
  /** The thread's content, as far as prompts have shown it. */
  transcript: Transcript = new Transcript();
  /** Whether the thread has MCP servers, which run in their own processes. */
  hasMcpServers: boolean;
  /** Whether the caller was warned that its messages differ from those of the thread. */
  hasWarnedOfChange: boolean;
  /** Digest of the last turn's input, if the model failed in that turn: a retry must not send the input again. */
  failedInput: string | undefined;
  readonly pid: number | undefined;
  /** The thread's temporary folder, which is removed with the thread. */
  workspace: Workspace | undefined;
  /** The running turn, or one that ended without a reader. */
  run: TurnRun | undefined;
  readonly #queue = new SerialQueue();
  #isBeingAbandoned = false;
  #idleSince = performance.now();
  readonly #waitMs: number;
  #suspended: NodeJS.Timeout | undefined;
  #unanswered: NodeJS.Timeout | undefined;
  #onReturn: () => void = () => {};

  constructor(options: SessionOptions) {
    this.thread = options.thread;
    this.broker = options.broker;
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
    this.broker.thread = this.thread;
    this.broker.onChange(() => this.#watchRequests());
  }

  /** Whether no turn is running, waiting or queued. */
  get isIdle(): boolean {
    return this.#queue.size === 0 && !this.isSuspended && !this.thread.busy;
  }

  /** Whether the next call may use the thread: it is idle, or its only turn was abandoned and is about to end. */
  get isFree(): boolean {
    return this.isIdle || (this.#isBeingAbandoned && this.#queue.size === 1);
  }

  /** Milliseconds since the last use; 0 while in use. */
  get idleMs(): number {
    return this.isIdle ? performance.now() - this.#idleSince : 0;
  }

  get isSuspended(): boolean {
    return this.#suspended !== undefined;
  }

  /** Waits for the thread. Resolves to a function that releases it to the next caller. */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    const acquiring = this.#queue.acquire();
    try {
      const lock = await raceAbort(acquiring, signal);
      return () => {
        this.#idleSince = performance.now();
        lock[Symbol.dispose]();
      };
    } catch (error) {
      // An aborted caller keeps its position in the queue, so that the next caller does not overtake those before it.
      void acquiring.then((lock) => lock[Symbol.dispose]());
      throw error;
    }
  }

  /**
   * Marks the turn as waiting for its client, for a limited time.
   * @param onReturn Called once, when the client returns or the time is up.
   */
  park(onReturn: () => void): void {
    this.unpark();
    this.#onReturn = onReturn;
    // The turn waits for this program, so the timer must not keep the program alive.
    this.#suspended = setTimeout(() => this.abandon(this.#noAnswer), this.#waitMs).unref();
  }

  /** Called when the client has returned. */
  unpark(): void {
    clearTimeout(this.#suspended);
    this.#suspended = undefined;
    this.#onReturn();
    this.#onReturn = () => {};
    // Unanswered requests get the full time again, because they will be reported again.
    clearTimeout(this.#unanswered);
    this.#unanswered = undefined;
    this.#watchRequests();
  }

  /** Forgets a turn that ended while it waited for its client. */
  forgetSuspended(): void {
    if (!this.isSuspended) return;
    this.unpark();
    this.run?.end();
    this.run = undefined;
  }

  /** Called when the client does not return. Rejects the turn's requests and interrupts the turn. */
  abandon(reason: string): void {
    const { run } = this;
    this.unpark();
    this.run = undefined;
    if (run === undefined) return;
    this.#isBeingAbandoned = true;
    void run.ended.then(() => {
      this.#isBeingAbandoned = false;
    });
    void abandonTurn(run, this.broker, reason);
  }

  get #noAnswer(): string {
    return `No answer came within ${this.#waitMs} ms.`;
  }

  /** Limits how long a request may stay unanswered. If its stream has no reader, it would block the thread forever. */
  #watchRequests(): void {
    if (this.broker.isWaiting) {
      this.#unanswered ??= setTimeout(() => this.stop(this.#noAnswer), this.#waitMs).unref();
    } else {
      clearTimeout(this.#unanswered);
      this.#unanswered = undefined;
    }
  }

  /** Rejects the turn's requests and interrupts the turn. */
  stop(reason: string): void {
    if (this.isSuspended) {
      this.abandon(reason);
    } else {
      this.broker.rejectAll(reason);
      this.run?.interrupt();
    }
  }

  async releaseWorkspace(): Promise<void> {
    const { workspace } = this;
    this.workspace = undefined;
    await workspace?.release();
  }

  /** @param leaves Whether a waiting turn is left on the server for another client to continue. */
  async close({ leaves = false }: { readonly leaves?: boolean } = {}): Promise<void> {
    if (leaves && this.isSuspended) {
      // No unsubscribe: the connection is about to close, and the server keeps the turn's requests.
      this.unpark();
      return;
    }
    this.stop("The provider was closed.");
    // A turn without a client must not continue. Don't wait for a server that has exited or does not answer.
    await this.thread.interrupt({ signal: AbortSignal.timeout(AI_SDK_LIMITS.interruptMs) }).catch(() => {});
    try {
      await this.thread.close();
    } finally {
      await this.releaseWorkspace();
    }
  }
}
