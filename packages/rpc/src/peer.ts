import { RpcError, toError } from "./errors.ts";
import { type AnyRequestHandler, IncomingRequests, type RequestContext } from "./incoming-requests.ts";
import { RPC_LIMITS, type RpcLimits } from "./limits.ts";
import { callBody, type Message, type NotificationMessage, parseMessage } from "./message.ts";
import { type CallOptions, OutgoingCalls } from "./outgoing-calls.ts";
import { runListener } from "./run-listener.ts";
import type { Transport } from "./transport.ts";
import type { AnyWire, MethodOf, ParamsArgument, ParamsOf, ResultOf, Wire } from "./wire.ts";

export interface PeerOptions {
  readonly limits?: Partial<RpcLimits>;
  /** Source of jitter. Tests pass their own. */
  readonly random?: () => number;
}

type AnyListener = (params: unknown, message: NotificationMessage) => unknown;

/**
 * One end of a bidirectional JSON-RPC connection without the `jsonrpc` member.
 *
 * Handlers that are set in the tick in which the peer is created miss no message. Notifications are delivered one
 * after the other in order of arrival; requests run concurrently, outside the read loop.
 *
 * @example
 * const peer = new Peer(new NdjsonTransport({ input: child.stdout, output: child.stdin }));
 * peer.handle("ping", () => "pong");
 * const answer = await peer.request("initialize", { clientInfo }, { timeoutMs: 10_000 });
 */
export class Peer<W extends Wire = AnyWire> implements AsyncDisposable {
  /** Resolves when the connection has ended, to the error that all pending calls rejected with. Never rejects. */
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
    this.#limits = { ...RPC_LIMITS, ...limits };
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
      closed: (cause) => this.#finish(closedError(cause)),
    });
  }

  /**
   * Calls a method of the other side. Rejects with a `RemoteError` if it responds with an error, otherwise with an
   * `RpcError`.
   */
  request<M extends MethodOf<W["calls"]>>(
    method: M,
    ...[params, options]: ParamsArgument<ParamsOf<W["calls"], M>, [options?: CallOptions]>
  ): Promise<ResultOf<W["calls"], M>> {
    return this.#outgoing.start(method, params, options ?? {}) as Promise<ResultOf<W["calls"], M>>;
  }

  /** Sends a notification. Resolves when the connection can accept more. */
  async notify<M extends MethodOf<W["sends"]>>(
    method: M,
    ...[params]: ParamsArgument<W["sends"][M]>
  ): Promise<void> {
    if (this.#end) throw this.#end;
    await this.#send(`{${callBody(method, params)}`);
  }

  /** Handles a request of the other side. The handler's return value is the result. One handler per method. */
  handle<M extends MethodOf<W["answers"]>>(
    method: M,
    handler: (
      params: ParamsOf<W["answers"], M>,
      context: RequestContext,
    ) => ResultOf<W["answers"], M> | Promise<ResultOf<W["answers"], M>>,
  ): Disposable {
    return claim(this.#handlers, method, handler as AnyRequestHandler);
  }

  /** Handles all requests whose method has no handler. Without it, they are answered with "method not found". */
  handleRest(handler: AnyRequestHandler): void {
    this.#restHandler = handler;
  }

  /** Listens to a notification of the other side. One listener per method. */
  on<M extends MethodOf<W["receives"]>>(
    method: M,
    listener: (params: W["receives"][M], message: NotificationMessage) => void,
  ): Disposable {
    return claim(this.#listeners, method, listener as AnyListener);
  }

  /** Listens to all notifications whose method has no listener. */
  onRest(listener: (params: unknown, message: NotificationMessage) => void): void {
    this.#restListener = listener;
  }

  /** Listens to problems that don't end the connection: `malformed`, `unmatched_response`, `handler_failed`. */
  onAnomaly(listener: (error: RpcError) => void): Disposable {
    // Wrapped, so that a listener added twice is called twice and each registration is disposed of on its own.
    const entry = (error: RpcError): unknown => listener(error);
    this.#anomalyListeners.add(entry);
    return { [Symbol.dispose]: () => void this.#anomalyListeners.delete(entry) };
  }

  /** Calls in flight, and calls waiting for a free slot. */
  get counts(): { inFlight: number; queued: number } {
    return this.#outgoing.counts;
  }

  /** Pauses or resumes reading from the other side. While paused no response arrives, and calls time out. */
  pauseReading(isPaused: boolean): void {
    if (this.#end) return;
    if (isPaused) this.#transport.pause?.();
    else this.#transport.resume?.();
  }

  /**
   * Closes the connection. Sent messages are flushed, pending calls reject with `closed_locally`, and the signals of
   * running handlers abort.
   */
  async close(): Promise<void> {
    this.#finish(new RpcError("closed_locally", "The connection was closed by this side."));
    await this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #send(text: string): Promise<void> | undefined {
    const { messageBytes } = this.#limits;
    // A UTF-16 unit takes at most three bytes: only messages near the limit are measured.
    if (text.length * 3 > messageBytes && Buffer.byteLength(text) > messageBytes) {
      throw new RpcError(
        "message_too_large",
        `A message is larger than ${messageBytes} bytes (messageBytes).`,
      );
    }
    return this.#transport.send(text);
  }

  /** If a response can't be sent, the connection is closed: the other side would wait for it forever. */
  #reply(text: string): void {
    if (this.#end) return;
    try {
      void this.#send(text);
    } catch (error) {
      // A closing transport is about to report its cause, which is more useful than "could not be sent".
      if (RpcError.is(error) && error.code === "closed") return;
      this.#finish(closedError(toError(error)));
      void this.#transport.close();
    }
  }

  #receive(text: string): void {
    // Messages may still arrive while the connection closes. No call is waiting for them.
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
        this.#deliver(parsed.message);
        return;
      case "response":
        if (!this.#outgoing.answer(parsed.message)) this.#report(unmatched(parsed.message.id));
        return;
      case "request":
        this.#incoming.serve(parsed.message, this.#handlers.get(parsed.message.method) ?? this.#restHandler);
    }
  }

  #deliver(message: NotificationMessage): void {
    const listener = this.#listeners.get(message.method) ?? this.#restListener;
    if (!listener) return;
    runListener(
      () => listener(message.params, message),
      (cause) => {
        const what = `A listener for ${message.method} threw: ${cause.message}`;
        this.#report(new RpcError("handler_failed", what, { cause }));
      },
    );
  }

  #report(error: RpcError): void {
    for (const listener of this.#anomalyListeners) {
      // A failing anomaly listener can't be reported anywhere.
      runListener(
        () => listener(error),
        () => {},
      );
    }
  }

  #finish(error: RpcError): void {
    if (this.#end) return;
    this.#end = error;
    this.#outgoing.end(error);
    this.#incoming.end(error);
    this.#settleClosed(error);
  }
}

function claim<Handler>(table: Map<string, Handler>, method: string, handler: Handler): Disposable {
  if (table.has(method)) throw new TypeError(`${method} already has a handler. Dispose of it first.`);
  table.set(method, handler);
  let held = true;
  return {
    [Symbol.dispose]: () => {
      // Only once: later, the method may have another handler, possibly the same function.
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
    `Received a response for ${JSON.stringify(id)}, which is not pending.`,
  );
}
