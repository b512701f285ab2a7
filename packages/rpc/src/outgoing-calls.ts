import { BoundedSet } from "./async/bounded-collections.ts";
import { overloadDelayMs } from "./backoff.ts";
import { RemoteError, RPC_CODES, RpcError, toError } from "./errors.ts";
import type { RpcLimits } from "./limits.ts";
import { callBody, type ResponseMessage } from "./message.ts";
import { timerDelay } from "./timer-delay.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Timeout of the call, including queueing and retries. `Infinity` waits as long as the connection lives. */
  readonly timeoutMs?: number;
}

interface Call {
  readonly method: string;
  /**
   * The serialised message without its ID. Built once, so that later changes of the params have no effect and retries
   * are cheap.
   */
  readonly body: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: RpcError) => void;
  readonly options: CallOptions;
  id: number | undefined;
  refusals: number;
  timeout: NodeJS.Timeout | undefined;
  retry: NodeJS.Timeout | undefined;
  onAbort: (() => void) | undefined;
}

/** IDs of abandoned calls to remember, so that late responses are recognised. */
const ABANDONED_IDS = 1024;

/**
 * The calls of one end: at most `inFlight` are sent, the others are queued. Each settles exactly once, by its
 * response, its timeout, its signal or the end of the connection.
 */
export class OutgoingCalls {
  readonly #limits: RpcLimits;
  readonly #send: (text: string) => Promise<void> | undefined;
  readonly #random: () => number;
  readonly #inFlight = new Map<number, Call>();
  // A set, because any call may leave the queue at any time.
  readonly #queue = new Set<Call>();
  // Reused, because a new iterator would first walk over the slots of all removed calls.
  #queueHead = this.#queue.values();
  readonly #retrying = new Set<Call>();
  readonly #abandoned = new BoundedSet<number>(ABANDONED_IDS);
  #nextId = 0;
  #blocked = false;
  #ended: RpcError | undefined;

  constructor(
    limits: RpcLimits,
    send: (text: string) => Promise<void> | undefined,
    random: () => number = Math.random,
  ) {
    this.#limits = limits;
    this.#send = send;
    this.#random = random;
  }

  /** Calls in flight, and calls waiting to be sent. */
  get counts(): { inFlight: number; queued: number } {
    return { inFlight: this.#inFlight.size, queued: this.#queue.size + this.#retrying.size };
  }

  start(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw this.#ended;
      if (options.signal?.aborted) throw aborted(method, options.signal);
      const call: Call = {
        method,
        body: callBody(method, params),
        resolve,
        reject,
        options,
        id: undefined,
        refusals: 0,
        timeout: undefined,
        retry: undefined,
        onAbort: undefined,
      };
      if (this.#isFull) throw queueFull(method, this.#limits.queuedCalls);
      this.#watch(call);
      this.#queue.add(call);
      this.#pump();
    });
  }

  /** Settles the call of a response. Returns false if no call is waiting for it. */
  answer(message: ResponseMessage): boolean {
    const call = typeof message.id === "number" ? this.#inFlight.get(message.id) : undefined;
    if (!call) return typeof message.id === "number" && this.#abandoned.delete(message.id);
    this.#inFlight.delete(message.id as number);
    call.id = undefined;
    if (message.error === undefined) {
      this.#forget(call);
      call.resolve(message.result);
    } else if (message.error.code === RPC_CODES.overloaded && call.refusals < this.#limits.overloadRetries) {
      this.#retryLater(call);
    } else {
      this.#forget(call);
      call.reject(new RemoteError(call.method, message.error));
    }
    this.#pump();
    return true;
  }

  /** Ends the connection. All queued and pending calls reject with this error. */
  end(error: RpcError): void {
    this.#ended = error;
    const calls = [...this.#inFlight.values(), ...this.#queue, ...this.#retrying];
    this.#inFlight.clear();
    for (const call of calls) this.#fail(call, error);
  }

  get #hasFreeSlot(): boolean {
    return !this.#blocked && this.#inFlight.size < this.#limits.inFlight;
  }

  /** Calls waiting for a retry count too: an overloaded peer would fill the memory with them. */
  get #isFull(): boolean {
    const { queued } = this.counts;
    return queued >= this.#limits.queuedCalls && (queued > 0 || !this.#hasFreeSlot);
  }

  #watch(call: Call): void {
    const { signal, timeoutMs = this.#limits.callTimeoutMs } = call.options;
    if (timeoutMs !== Infinity) {
      call.timeout = setTimeout(() => {
        this.#giveUp(
          call,
          new RpcError("timeout", `${call.method} was not answered within ${timeoutMs} ms.`),
        );
      }, timerDelay(timeoutMs));
    }
    if (signal) {
      call.onAbort = () => this.#giveUp(call, aborted(call.method, signal));
      signal.addEventListener("abort", call.onAbort, { once: true });
    }
  }

  #pump(): void {
    while (this.#hasFreeSlot) {
      const call = this.#nextQueued();
      if (!call) return;
      this.#queue.delete(call);
      const { signal } = call.options;
      // One signal may abort many calls, one after the other. Those whose listener has not run yet must not be sent
      // either.
      if (signal?.aborted) this.#fail(call, aborted(call.method, signal));
      else this.#dispatch(call);
    }
  }

  #nextQueued(): Call | undefined {
    const next = this.#queueHead.next();
    if (!next.done) return next.value;
    // An exhausted iterator stays exhausted, even if calls are added later.
    this.#queueHead = this.#queue.values();
    return this.#queueHead.next().value;
  }

  #dispatch(call: Call): void {
    const id = this.#nextId++;
    call.id = id;
    this.#inFlight.set(id, call);
    try {
      const drained = this.#send(`{"id":${id},${call.body}`);
      if (drained) this.#holdUntil(drained);
    } catch (error) {
      this.#inFlight.delete(id);
      call.id = undefined;
      this.#fail(call, toRpcError(error, call.method));
    }
  }

  /** Holds queued calls until a slow reader on the other side has caught up. */
  #holdUntil(drained: Promise<void>): void {
    this.#blocked = true;
    void drained.then(() => {
      this.#blocked = false;
      this.#pump();
    });
  }

  #retryLater(call: Call): void {
    call.refusals += 1;
    this.#retrying.add(call);
    call.retry = setTimeout(
      () => {
        this.#retrying.delete(call);
        this.#queue.add(call);
        this.#pump();
      },
      overloadDelayMs(call.refusals, this.#random),
    );
  }

  #giveUp(call: Call, error: RpcError): void {
    this.#fail(call, error);
    this.#pump();
  }

  #fail(call: Call, error: RpcError): void {
    if (call.id !== undefined && this.#inFlight.delete(call.id)) this.#abandoned.add(call.id);
    this.#forget(call);
    call.reject(error);
  }

  #forget(call: Call): void {
    clearTimeout(call.timeout);
    clearTimeout(call.retry);
    if (call.onAbort) call.options.signal?.removeEventListener("abort", call.onAbort);
    this.#queue.delete(call);
    this.#retrying.delete(call);
  }
}

function aborted(method: string, signal: AbortSignal): RpcError {
  return new RpcError("aborted", `${method} was aborted.`, { cause: signal.reason });
}

function queueFull(method: string, limit: number): RpcError {
  return new RpcError(
    "queue_full",
    `${method} was rejected: ${limit} calls are already queued (queuedCalls).`,
  );
}

function toRpcError(thrown: unknown, method: string): RpcError {
  if (RpcError.is(thrown)) return thrown;
  const cause = toError(thrown);
  return new RpcError("closed", `${method} could not be sent: ${cause.message}`, { cause });
}
