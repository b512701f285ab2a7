import type { Codex, ForkThreadOptions, Input, Thread, v2 } from "codexkit";
import { CodexModelError } from "../errors.ts";
import { PROVIDER_KEY } from "../items/metadata.ts";
import { type CodexHolder, toCallError } from "../connection/codex-holder.ts";

/** A thread's id, or the provider metadata of any result, part or message of that thread. */
export type ThreadReference = string | Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface CallOptions {
  readonly signal?: AbortSignal;
}

interface ResumedThread {
  /** Undefined while it is being resumed. */
  thread: Thread | undefined;
  /** Number of calls that use it. */
  users: number;
}

/** Operations on a provider's threads, other than running turns. */
export class CodexThreads {
  readonly #holder: CodexHolder;
  /** Threads that are resumed for the duration of calls, by id. */
  readonly #resumed = new Map<string, ResumedThread>();

  constructor(holder: CodexHolder) {
    this.#holder = holder;
  }

  /** Adds input to the running turn. The response to it appears in that turn's stream. */
  steer(thread: ThreadReference, input: Input, options: CallOptions = {}): Promise<void> {
    return this.use(thread, (held) => held.steer(input, options), options);
  }

  /** Interrupts the running turn. Its stream ends as interrupted, with the parts received so far. */
  interrupt(thread: ThreadReference, options: CallOptions = {}): Promise<void> {
    return this.use(thread, (held) => held.interrupt(options), options);
  }

  /**
   * Queues input in Codex, which runs it after the current turn. The result is stored in the thread but not streamed.
   * Only stored threads (`persist: true`) have a queue.
   */
  queue(thread: ThreadReference, input: Input, options: CallOptions = {}): Promise<v2.QueuedSubmission> {
    return this.use(thread, (held) => held.queue.add(input, options), options);
  }

  /** Replaces older history with a summary. */
  async compact(thread: ThreadReference, options: CallOptions = {}): Promise<void> {
    await this.use(thread, async (held) => void (await held.compact(options)), options);
  }

  /** Copies a stored thread. Returns the copy's id, for use as `providerOptions.codex.threadId`. */
  async fork(
    thread: ThreadReference,
    { signal, ...where }: Pick<ForkThreadOptions, "lastTurnId" | "beforeTurnId"> & CallOptions = {},
  ): Promise<string> {
    const options = signal ? { signal } : {};
    const copy = await this.#lend((codex) => codex.forkThread(idOf(thread), where, options), options);
    return copy.id;
  }

  rename(thread: ThreadReference, name: string, options: CallOptions = {}): Promise<void> {
    return this.use(thread, (held) => held.rename(name, options), options);
  }

  /** Archives a stored thread. An archived thread can still be listed but not continued. */
  archive(thread: ThreadReference, options: CallOptions = {}): Promise<void> {
    return this.use(thread, (held) => held.archive(options), options);
  }

  /** Reads the current state of a thread. */
  read(thread: ThreadReference, options: CallOptions = {}): Promise<v2.Thread> {
    return this.#lend((codex) => codex.readThread(idOf(thread), options), options);
  }

  /** Lists the stored threads, newest first by default. */
  async *list({ signal, ...filter }: Omit<v2.ThreadListParams, "cursor"> & CallOptions = {}): AsyncGenerator<
    v2.Thread,
    void,
    undefined
  > {
    const lease = await this.#holder.lease(signal);
    try {
      yield* lease.codex.listThreads(filter, signal ? { signal } : {});
    } catch (error) {
      throw await toCallError(error);
    } finally {
      lease.release();
    }
  }

  /**
   * Gives access to the rest of the SDK's `Thread` API, such as reviews, reverts and goals. A thread that this provider has not
   * loaded is resumed for the duration of the call.
   * @example
   * await codex.threads.use(providerMetadata, (thread) => thread.goal.set({ objective: "All tests pass" }));
   */
  async use<Value>(
    thread: ThreadReference,
    act: (thread: Thread) => Promise<Value>,
    options: CallOptions = {},
  ): Promise<Value> {
    const id = idOf(thread);
    return this.#lend(async (codex, sessions) => {
      const held = sessions.find(id)?.thread;
      if (held) return act(held);
      // Concurrent calls get the same thread, so only the last one may close it.
      const resumed: ResumedThread = this.#resumed.get(id) ?? { thread: undefined, users: 0 };
      this.#resumed.set(id, resumed);
      resumed.users += 1;
      try {
        resumed.thread = await codex.resumeThread(id, {}, options);
        return await act(resumed.thread);
      } finally {
        resumed.users -= 1;
        if (resumed.users === 0) {
          this.#resumed.delete(id);
          // A model call may have continued the thread meanwhile.
          if (!sessions.find(id)) await resumed.thread?.close();
        }
      }
    }, options);
  }

  async #lend<Value>(
    act: (codex: Codex, sessions: Awaited<ReturnType<CodexHolder["lease"]>>["sessions"]) => Promise<Value>,
    { signal }: CallOptions,
  ): Promise<Value> {
    const lease = await this.#holder.lease(signal);
    try {
      return await act(lease.codex, lease.sessions);
    } catch (error) {
      throw await toCallError(error);
    } finally {
      lease.release();
    }
  }
}

function idOf(thread: ThreadReference): string {
  const id = typeof thread === "string" ? thread : thread[PROVIDER_KEY]?.["threadId"];
  if (typeof id === "string" && id !== "") return id;
  throw new CodexModelError(
    "invalid_options",
    `Expected a thread id or provider metadata with codex.threadId, got ${JSON.stringify(thread)}.`,
  );
}
