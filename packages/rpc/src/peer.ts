import { RpcError, toError } from "./errors.ts";
import { type AnyRequestHandler, IncomingRequests, type RequestContext } from "./incoming-requests.ts";
import { DEFAULT_LIMITS, type RpcLimits } from "./limits.ts";
import { callBody, type Message, type NotificationMessage, parseMessage } from "./message.ts";
import { type CallOptions, OutgoingCalls } from "./outgoing-calls.ts";
import { runListener } from "./run-listener.ts";
import type { Transport } from "./transport.ts";
import type { AnyWire, MethodOf, ParamsArgument, ParamsOf, ResultOf, Wire } from "./wire.ts";

export interface PeerOptions {
  readonly limits?: Partial<RpcLimits>;
  /** The source of jitter; tests pass their own. */
  readonly random?: () => number;
}

type AnyListener = (params: unknown, message: NotificationMessage) => unknown;

/**
 * One end of a JSON-RPC connection on which both sides call, without the `jsonrpc` member.
 *
 * Handlers set in the same tick as the peer is made see every message. Notifications are heard in the order in which
 * they came, one after the other; requests are handled beside the read loop, any number at once.
 *
 * @example
 * const peer = new Peer(new NdjsonTransport({ input: child.stdout, output: child.stdin }));
 * peer.handle("ping", () => "pong");
 * const answer = await peer.request("initialize", { clientInfo }, { timeoutMs: 10_000 });
 */
export class Peer<W extends Wire = AnyWire> implements AsyncDisposable {
  /** Settles when the connection is over, with the error that every pending call got. Never rejects. */
  readonly closed: Promise<RpcError>;
  readonly #transport: Transport;
  readonly #limits: RpcLimits;
  readonly #outgoing: OutgoingCalls;
  readonly #incoming: IncomingRequests;
  readonly #handlers = new Map<string, AnyRequestHandler>();
  readonly #listeners = new Map<string, AnyListener>();
  readonly #anomalyListeners = new Set<(error: RpcError) => unknown>();
  readonly #settleClosed: (error: RpcError) => void;
  #restHandler: AnyRequestHandler | undefined;
  #restListener: AnyListener | undefined;
  #end: RpcError | undefined;

  constructor(transport: Transport, { limits, random }: PeerOptions = {}) {
    this.#transport = transport;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#outgoing = new OutgoingCalls(this.#limits, (text) => this.#send(text), random);
    this.#incoming = new IncomingRequests(this.#limits.inboundRequests, (text) => this.#reply(text));
    const { promise, resolve } = Promise.withResolvers<RpcError>();
    this.closed = promise;
    this.#settleClosed = resolve;
    transport.start({
      text: (text) => this.#receive(text),
      malformed: (error) => {
        if (!this.#end) this.#report(error);
      },
      closed: (cause) => this.#shut(closedError(cause)),
    });
  }

  /** Calls the other side. Rejects with a `RemoteError` when it answers with an error, else with an `RpcError`. */
  request<M extends MethodOf<W["calls"]>>(
    method: M,
    ...[params, options]: ParamsArgument<ParamsOf<W["calls"], M>, [options?: CallOptions]>
  ): Promise<ResultOf<W["calls"], M>> {
    return this.#outgoing.start(method, params, options ?? {}) as Promise<ResultOf<W["calls"], M>>;
  }

  /** Sends a notification. Resolves when the connection can take more. */
  async notify<M extends MethodOf<W["sends"]>>(
    method: M,
    ...[params]: ParamsArgument<W["sends"][M]>
  ): Promise<void> {
    if (this.#end) throw this.#end;
    await this.#send(`{${callBody(method, params)}`);
  }

  /** Answers a method of the other side; what the handler returns or resolves to is the result. One handler a method. */
  handle<M extends MethodOf<W["answers"]>>(
    method: M,
    handler: (
      params: ParamsOf<W["answers"], M>,
      context: RequestContext,
    ) => ResultOf<W["answers"], M> | Promise<ResultOf<W["answers"], M>>,
  ): Disposable {
    return claim(this.#handlers, method, handler as AnyRequestHandler);
  }

  /** Answers every method that has no handler of its own. Without it they are answered "method not found". */
  handleRest(handler: AnyRequestHandler): void {
    this.#restHandler = handler;
  }

  /** Hears a notification of the other side. One listener a method. */
  on<M extends MethodOf<W["hears"]>>(
    method: M,
    listener: (params: W["hears"][M], message: NotificationMessage) => void,
  ): Disposable {
    return claim(this.#listeners, method, listener as AnyListener);
  }

  /** Hears every notification that has no listener of its own. */
  onRest(listener: (params: unknown, message: NotificationMessage) => void): void {
    this.#restListener = listener;
  }

  /** Hears what went wrong without ending the connection: `malformed`, `unmatched_response`, `handler_failed`. */
  onAnomaly(listener: (error: RpcError) => void): Disposable {
    // A function of its own for each: the same listener may listen twice, and each stops alone.
    const entry = (error: RpcError): unknown => listener(error);
    this.#anomalyListeners.add(entry);
    return { [Symbol.dispose]: () => void this.#anomalyListeners.delete(entry) };
  }

  /** Calls with the other side now, and calls that wait here for a free place. */
  get counts(): { inFlight: number; queued: number } {
    return this.#outgoing.counts;
  }

  /** Stops or continues to read from the other side. While it is stopped no answer arrives, and calls time out. */
  pauseReading(isPaused: boolean): void {
    if (this.#end) return;
    if (isPaused) this.#transport.pause?.();
    else this.#transport.resume?.();
  }

  /** Ends the connection: what was sent leaves, pending calls reject, running handlers see their signal fire. */
  async close(): Promise<void> {
    this.#shut(new RpcError("closed", "The connection was closed by this side."));
    await this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #send(text: string): Promise<void> | undefined {
    const { messageBytes } = this.#limits;
    // A character takes three bytes at most: only a text near the limit is measured.
    if (text.length * 3 > messageBytes && Buffer.byteLength(text) > messageBytes) {
      throw new RpcError(
        "message_too_large",
        `A message is larger than ${messageBytes} bytes (messageBytes).`,
      );
    }
    return this.#transport.send(text);
  }

  /** An answer that can't be sent would leave the other side waiting for ever: better no connection. */
  #reply(text: string): void {
    if (this.#end) return;
    try {
      void this.#send(text);
    } catch (error) {
      // A transport that is closing says why in a moment; that cause is better than "could not be sent".
      if (error instanceof RpcError && error.code === "closed") return;
      this.#shut(closedError(toError(error)));
      void this.#transport.close();
    }
  }

  #receive(text: string): void {
    // A connection that closes in good order may still bring messages: nobody waits for them any more.
    if (this.#end) return;
    let parsed: Message;
    try {
      parsed = parseMessage(text);
    } catch (error) {
      this.#report(error as RpcError);
      return;
    }
    switch (parsed.kind) {
      case "notification":
        this.#hear(parsed.message);
        return;
      case "response":
        if (!this.#outgoing.answer(parsed.message)) this.#report(unmatched(parsed.message.id));
        return;
      case "request":
        this.#incoming.serve(parsed.message, this.#handlers.get(parsed.message.method) ?? this.#restHandler);
    }
  }

  #hear(message: NotificationMessage): void {
    const listener = this.#listeners.get(message.method) ?? this.#restListener;
    if (!listener) return;
    runListener(
      () => listener(message.params, message),
      (cause) => {
        const what = `A listener of ${message.method} threw: ${cause.message}`;
        this.#report(new RpcError("handler_failed", what, { cause }));
      },
    );
  }

  #report(error: RpcError): void {
    for (const listener of this.#anomalyListeners) {
      // The last to be told: there is nobody to tell that it failed in turn.
      runListener(
        () => listener(error),
        () => {},
      );
    }
  }

  #shut(error: RpcError): void {
    if (this.#end) return;
    this.#end = error;
    this.#outgoing.end(error);
    this.#incoming.end(error);
    this.#settleClosed(error);
  }
}

function claim<Handler>(table: Map<string, Handler>, method: string, handler: Handler): Disposable {
  if (table.has(method)) throw new TypeError(`${method} has a handler already; dispose of that one first.`);
  table.set(method, handler);
  let held = true;
  return {
    [Symbol.dispose]: () => {
      // Only the first time: by the second the method may be another's, with the same handler even.
      if (held) table.delete(method);
      held = false;
    },
  };
}

function closedError(cause: Error | undefined): RpcError {
  return cause
    ? new RpcError("closed", `The connection broke: ${cause.message}`, { cause })
    : new RpcError("closed", "The other side closed the connection.");
}

function unmatched(id: number | string): RpcError {
  return new RpcError(
    "unmatched_response",
    `A response came for ${JSON.stringify(id)}, which is not pending.`,
  );
}
