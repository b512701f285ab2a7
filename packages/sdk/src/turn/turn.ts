import { abortedError, CodexError } from "../errors.ts";
import type { CodexEvent } from "../events/event.ts";
import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import type { Input } from "./input.ts";
import { interruptTurn } from "./interrupt-turn.ts";
import type { LiveTurn } from "./live-turn.ts";
import { messageOf, raceAbort, withTimeout } from "@codexkit/rpc/async";
import { TurnFailedError, type TurnResult } from "../events/turn-result.ts";

/** Calls to the server about a running turn. */
export interface TurnControls {
  steer(turnId: string, input: Input, options: SteerOptions): Promise<void>;
  interrupt(turnId: string, options: TurnCallOptions): Promise<void>;
}

export interface TurnCallOptions {
  readonly signal?: AbortSignal;
  /** Timeout of the call. Default: `limits.callTimeoutMs`. */
  readonly timeoutMs?: number;
}

export interface SteerOptions extends TurnCallOptions {
  /** Your ID of this message. Codex repeats it as `clientId` of the `userMessage` item. */
  readonly clientUserMessageId?: string;
}

export const TURN_CALL: OptionKeys<TurnCallOptions> = { signal: true, timeoutMs: true };

export const STEER: OptionKeys<SteerOptions> = { ...TURN_CALL, clientUserMessageId: true };

export interface TurnOptions<Output> {
  /** Starts or finds the turn. The signal aborts if the turn is interrupted before it has started. */
  readonly begin: (cancelled: AbortSignal) => Promise<LiveTurn>;
  readonly controls: TurnControls;
  /** Parses the final message. Without it there is no structured output. */
  readonly parse?: (finalResponse: string) => Output;
  /** Interrupts the turn when it aborts. */
  readonly signal?: AbortSignal;
}

/** How long an aborted turn may take to stop. Then it rejects without waiting for its end. */
const ABORT_LIMIT_MS = 10_000;

/** How long a turn may take to end after the server accepted its interrupt. */
const INTERRUPT_LIMIT_MS = 30_000;

/**
 * One exchange with the agent. Await it for its result, iterate over it for its events, or both, any number of times.
 *
 * Awaiting resolves if the turn completed or was interrupted (see `status`). It rejects with a `TurnFailedError` if
 * the turn failed, if codex died, or if its `signal` was aborted; `error.result` has what was done until then.
 * Iterating ends with `turn.completed`, `turn.failed` or `turn.interrupted` and does not throw for these; `text()`
 * does.
 *
 * A `Turn` is thenable: an `async` function that returns one returns its result instead. To pass on a running turn,
 * return it in an object.
 *
 * @example
 * const turn = thread.run("Make the failing test pass");
 * for await (const event of turn) {
 *   if (event.type === "item.delta" && event.kind === "message") process.stdout.write(event.delta);
 * }
 * const { finalResponse, usage } = await turn;
 */
export class Turn<Output = undefined> implements PromiseLike<TurnResult<Output>>, AsyncIterable<CodexEvent> {
  readonly #live: Promise<LiveTurn>;
  readonly #controls: TurnControls;
  readonly #parse: ((finalResponse: string) => Output) | undefined;
  readonly #cancel = new AbortController();
  readonly #result: Promise<TurnResult<Output>>;

  constructor({ begin, controls, parse, signal }: TurnOptions<Output>) {
    this.#controls = controls;
    this.#parse = parse;
    // Any error of `begin`, thrown or rejected, is the failure of the turn.
    this.#live = (async () => begin(this.#cancel.signal))();
    this.#result = this.#finish(signal);
    // A caller that only iterates gets a failure as an event. An unhandled rejection must not end the program.
    this.#result.catch(() => {});
  }

  /** ID of the turn, once the server has started it. Rejects with `turn_not_found` if it was interrupted before. */
  get id(): Promise<string> {
    const id = this.#live.then(({ turnId }) => {
      if (turnId !== "") return turnId;
      throw new CodexError("turn_not_found", "The turn was interrupted before it started, so it has no ID.");
    });
    id.catch(() => {}); // The result reports a turn that never started.
    return id;
  }

  /** Sends more input to the running turn. */
  async steer(input: Input, options: SteerOptions = {}): Promise<void> {
    rejectUnknownOptions("steer", options, STEER);
    const turnId = await raceAbort(this.id, options.signal, abortedError);
    await this.#controls.steer(turnId, input, options);
  }

  /**
   * Stops the turn. It ends as interrupted, with what it did until then. A turn that is still queued is removed from
   * the queue. No-op if the turn has ended.
   */
  async interrupt(options: TurnCallOptions = {}): Promise<void> {
    rejectUnknownOptions("interrupt", options, TURN_CALL);
    const { signal } = options;
    this.#cancel.abort();
    const live = await raceAbort(this.#live, signal, abortedError);
    await interruptTurn(live, (turnId) => this.#controls.interrupt(turnId, options), signal);
    const ended = withTimeout(live.ended, INTERRUPT_LIMIT_MS, () => {
      const message = `Turn ${live.turnId} did not end within ${INTERRUPT_LIMIT_MS} ms of its interrupt.`;
      return new CodexError("timeout", message);
    });
    await raceAbort(ended, signal, abortedError);
  }

  /** Streams the text of the agent's messages. Rejects after the last text if the turn rejects. */
  async *text(): AsyncGenerator<string, void, undefined> {
    for await (const event of this) {
      if (event.type === "item.delta" && event.kind === "message") yield event.delta;
    }
    await this.#result;
  }

  /** The result as a plain promise. */
  result(): Promise<TurnResult<Output>> {
    return this.#result;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a Turn is meant to be awaited
  then<Value = TurnResult<Output>, Failure = never>(
    onResult?: ((result: TurnResult<Output>) => Value | PromiseLike<Value>) | null,
    onFailure?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    return this.#result.then(onResult, onFailure);
  }

  [Symbol.asyncIterator](): AsyncIterator<CodexEvent, undefined> {
    return new DeferredIterator(() => this.#live.then(({ events }) => events.read()));
  }

  async #finish(signal: AbortSignal | undefined): Promise<TurnResult<Output>> {
    const live = await this.#live;
    const end = signal ? await this.#endOrAbort(live, signal) : await live.ended;
    if (end === "aborted") {
      const result = live.result("interrupted");
      throw new TurnFailedError("aborted", "The turn was aborted.", result, { cause: signal?.reason });
    }
    if (end.type === "turn.failed") throw end.error;
    return { ...end.result, structured: this.#structured(end.result) };
  }

  #structured(result: TurnResult): Output {
    // Without a schema, `Output` is undefined. An interrupted turn has no answer to parse.
    if (!this.#parse || result.status !== "completed") return undefined as Output;
    try {
      return this.#parse(result.finalResponse);
    } catch (error) {
      const code = CodexError.is(error) ? error.code : "invalid_output";
      const message = messageOf(error);
      throw new TurnFailedError(code, message, result, { cause: error });
    }
  }

  async #endOrAbort(live: LiveTurn, signal: AbortSignal): Promise<NonNullable<LiveTurn["end"]> | "aborted"> {
    const abort = Promise.withResolvers<"aborted">();
    let limit: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      if (live.end) return;
      // The turn may end by itself, or not at all. Both are awaited below.
      interruptTurn(live, async (turnId) => this.#controls.interrupt(turnId, {})).catch(() => {});
      limit = setTimeout(() => abort.resolve("aborted"), ABORT_LIMIT_MS);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    try {
      const end = await Promise.race([live.ended, abort.promise]);
      return signal.aborted && end !== "aborted" && end.type === "turn.interrupted" ? "aborted" : end;
    } finally {
      clearTimeout(limit);
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/** Wraps an iterator that is not available yet. */
class DeferredIterator implements AsyncIterator<CodexEvent, undefined> {
  readonly #open: () => Promise<AsyncIterator<CodexEvent, undefined>>;
  readonly #returned = Promise.withResolvers<undefined>();
  #opening: Promise<AsyncIterator<CodexEvent, undefined>> | undefined;
  #inner: AsyncIterator<CodexEvent, undefined> | undefined;

  constructor(open: () => Promise<AsyncIterator<CodexEvent, undefined>>) {
    this.#open = open;
  }

  next(): Promise<IteratorResult<CodexEvent, undefined>> {
    return this.#inner ? this.#inner.next() : this.#firstNext();
  }

  return(): Promise<IteratorResult<CodexEvent, undefined>> {
    this.#returned.resolve(undefined);
    // The failure of a turn that never started is reported elsewhere.
    this.#opening?.then((inner) => inner.return?.()).catch(() => {});
    return Promise.resolve({ value: undefined, done: true });
  }

  async #firstNext(): Promise<IteratorResult<CodexEvent, undefined>> {
    this.#opening ??= this.#open();
    // A queued turn may start much later. A reader that returns does not wait for it.
    const inner = await Promise.race([this.#returned.promise, this.#opening]);
    this.#inner = inner;
    return inner ? inner.next() : { value: undefined, done: true };
  }
}
