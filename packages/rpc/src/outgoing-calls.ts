import { overloadDelayMs } from "./backoff.ts";
import { RemoteError, RPC_CODES, RpcError, toError } from "./errors.ts";
import type { RpcLimits } from "./limits.ts";
import { callBody, type ResponseMessage } from "./message.ts";
import { timerDelay } from "./timer-delay.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** How long the call may take, queueing and retries included. `Infinity` waits as long as the connection lives. */
  readonly timeoutMs?: number;
}

interface Call {
  readonly method: string;
  /** The message behind its id: written once, whatever the caller does with the params and however often it is sent. */
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

/** Ids of calls given up on, kept so that their late answers are known. Older ones are forgotten. */
const ABANDONED_IDS = 1024;

/**
 * The calls of one end, from the request to the settled promise: at most `inFlight` with the other side, the rest in a
 * queue, each settled exactly once by its answer, its timeout, its signal or the end of the connection.
 */
export class OutgoingCalls {
  readonly #limits: RpcLimits;
  readonly #send: (text: string) => Promise<void> | undefined;
  readonly #random: () => number;
  readonly #inFlight = new Map<number, Call>();
  // A set is a queue that any member can leave at once.
  readonly #queue = new Set<Call>();
  // Kept from call to call: a fresh iterator walks over the places of all that left before it finds the first one.
  #queueHead = this.#queue.values();
  readonly #retrying = new Set<Call>();
  readonly #abandoned = new Set<number>();
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

  /** Calls with the other side, and calls that wait here. */
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

  /** Takes an answer; false when no call waits for it. */
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

  /** The connection is over: every call, waiting or in flight, rejects with this one error. */
  end(error: RpcError): void {
    this.#ended = error;
    const calls = [...this.#inFlight.values(), ...this.#queue, ...this.#retrying];
    this.#inFlight.clear();
    for (const call of calls) this.#fail(call, error);
  }

  get #hasRoom(): boolean {
    return !this.#blocked && this.#inFlight.size < this.#limits.inFlight;
  }

  /** Calls that wait to be sent again count too: an overloaded peer would fill memory with them. */
  get #isFull(): boolean {
    const { queued } = this.counts;
    return queued >= this.#limits.queuedCalls && (queued > 0 || !this.#hasRoom);
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
    while (this.#hasRoom) {
      const call = this.#nextQueued();
      if (!call) return;
      this.#queue.delete(call);
      const { signal } = call.options;
      // One signal may end many calls, one after the other: those that it has not reached yet are not sent either.
      if (signal?.aborted) this.#fail(call, aborted(call.method, signal));
      else this.#dispatch(call);
    }
  }

  #nextQueued(): Call | undefined {
    const next = this.#queueHead.next();
    if (!next.done) return next.value;
    // An iterator that came to the end stays there, whatever joins later.
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
      this.#fail(call, asRpcError(error, call.method));
    }
  }

  /** The other side reads slowly: the rest of the queue stays here until it has caught up. */
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
    if (call.id !== undefined && this.#inFlight.delete(call.id)) this.#abandon(call.id);
    this.#forget(call);
    call.reject(error);
  }

  #abandon(id: number): void {
    this.#abandoned.add(id);
    const [oldest] = this.#abandoned;
    if (this.#abandoned.size > ABANDONED_IDS && oldest !== undefined) this.#abandoned.delete(oldest);
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
  return new RpcError("queue_full", `${method} was refused: ${limit} calls wait already (queuedCalls).`);
}

function asRpcError(thrown: unknown, method: string): RpcError {
  if (thrown instanceof RpcError) return thrown;
  const cause = toError(thrown);
  return new RpcError("closed", `${method} could not be sent: ${cause.message}`, { cause });
}
