import type { ClientRequests, ClientWire, ServerNotifications, v1 } from "@codexkit/protocol";
import {
  type CallOptions,
  type ParamsArgument,
  Peer,
  type RequestMessage,
  type RpcLimits,
  type Transport,
} from "@codexkit/rpc";
import { setTimeout as delay } from "node:timers/promises";
import { abortedError, CodexError } from "../errors.ts";
import type { RawMessage } from "../events/event.ts";
import { rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import { StateRaceError } from "../process/explain-start-failure.ts";
import { raceAbort } from "@codexkit/rpc/async";
import type { Caller } from "./caller.ts";
import { CALL, withCallLimit } from "./call-limits.ts";
import { toCodexError } from "./translate-error.ts";

/** A way to a server: a child's stdio, or a socket. */
export interface ServerLink {
  readonly transport: Transport;
  /** The process id of a server of ours. */
  readonly pid?: number | undefined;
  /** Where other clients reach it. */
  readonly url?: string | undefined;
  /** What the user should know, though it did not stop the launch. */
  readonly warnings?: readonly string[];
  /** The error for a handshake that failed, with what is known of the server. */
  explainFailure?(why: CodexError): CodexError;
  /** Ends what was opened for it, the child included. */
  close(): Promise<void>;
  /** Closes the connection and leaves the server running, where that is possible. */
  detach?(): Promise<void>;
}

export interface Connection {
  readonly peer: Peer<ClientWire>;
  /** Counts the connections of one `Codex`: a thread loaded on an older one must be resumed. */
  readonly generation: number;
  readonly server: v1.InitializeResponse;
}

export interface SupervisorOptions {
  /** Opens a way to a server: launches one, or connects to one. */
  readonly open: (signal: AbortSignal) => Promise<ServerLink>;
  /** Whether the server is a child of ours, which changes what its end is called. */
  readonly launched: boolean;
  readonly initialize: v1.InitializeParams;
  readonly limits?: Partial<RpcLimits>;
  readonly handshakeTimeoutMs: number;
  /** Refuses a server that is too old. Runs before anything else is asked of it. */
  readonly accept: (server: v1.InitializeResponse) => void;
  readonly onNotification: (message: RawMessage) => void;
  readonly onRequest: (message: RequestMessage, signal: AbortSignal) => unknown;
  readonly onAnomaly: (error: Error) => void;
  readonly onWarning: (message: string) => void;
  /** The connection broke; calls that come now open another. */
  readonly onLost: (error: CodexError) => void;
}

/** Making its databases takes codex some 100 ms. Ten tries are about six seconds. */
const START_RETRIES = { attempts: 10, firstDelayMs: 50, longestDelayMs: 1_000 } as const;

/**
 * Keeps one connection to an app-server. The first call opens it; after it broke, the next call opens another. Calls that
 * were pending when it broke are not repeated: only their caller knows whether that is safe.
 */
export class Supervisor implements Caller {
  readonly #options: SupervisorOptions;
  readonly #listeners = new Map<string, Set<(params: never) => void>>();
  readonly #lostListeners = new Set<(error: CodexError) => void>();
  readonly #closing = new AbortController();
  #current: Promise<Connection> | undefined;
  #link: ServerLink | undefined;
  #generation = 0;
  #isReadingPaused = false;
  #isDetached = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** The number of the connection at hand, or of the last one. */
  get generation(): number {
    return this.#current ? this.#generation : 0;
  }

  /** The process id of the server that runs now, if it is ours. */
  get pid(): number | undefined {
    return this.#current ? this.#link?.pid : undefined;
  }

  /** Where other clients reach the server that runs now. */
  get url(): string | undefined {
    return this.#current ? this.#link?.url : undefined;
  }

  /** The connection, opened if there is none. */
  connect(): Promise<Connection> {
    if (this.#closing.signal.aborted) return Promise.reject(closedError());
    this.#current ??= this.#open().catch((error: unknown) => {
      this.#current = undefined;
      throw error;
    });
    return this.#current;
  }

  async request<M extends keyof ClientRequests>(
    method: M,
    ...args: ParamsArgument<ClientRequests[M]["params"], [options?: CallOptions]>
  ): Promise<ClientRequests[M]["result"]> {
    const [params, options] = args as [unknown, CallOptions?];
    if (options) rejectUnknownOptions(method, options, CALL);
    const { peer } = await raceAbort(this.connect(), options?.signal, abortedError);
    try {
      return await peer.request(method, ...([params, withCallLimit(method, options)] as never));
    } catch (error) {
      throw toCodexError(error, { method, launched: this.#options.launched });
    }
  }

  on<M extends keyof ServerNotifications>(
    method: M,
    listener: (params: ServerNotifications[M]) => void,
  ): Disposable {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners);
    listeners.add(listener);
    return { [Symbol.dispose]: () => void listeners.delete(listener) };
  }

  /** Stops or continues to read from the server, on this connection and the next ones. */
  pauseReading(isPaused: boolean): void {
    this.#isReadingPaused = isPaused;
    void this.#current?.then(
      ({ peer }) => peer.pauseReading(this.#isReadingPaused),
      () => {}, // Nothing to pause.
    );
  }

  /** Hears that the connection broke or was closed. */
  onLost(listener: (error: CodexError) => void): Disposable {
    this.#lostListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#lostListeners.delete(listener) };
  }

  /** Ends the connection and the server, if it is ours; calls that come after are refused. */
  async close(): Promise<void> {
    await this.#end(async (link) => link.close());
  }

  /** Ends the connection and leaves the server running, where that is possible. */
  async detach(): Promise<void> {
    this.#isDetached = true;
    await this.#end(async (link) => (link.detach ? link.detach() : link.close()));
  }

  async #end(endLink: (link: ServerLink) => Promise<void>): Promise<void> {
    if (!this.#closing.signal.aborted) this.#closing.abort(closedError());
    const connection = await this.#current?.catch(() => undefined);
    await connection?.peer.close();
    if (this.#link) await endLink(this.#link);
  }

  /** Opens a connection. A codex that lost the race for the databases of a new home is started again. */
  async #open(): Promise<Connection> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#openOnce();
      } catch (error) {
        const { aborted } = this.#closing.signal;
        if (!(error instanceof StateRaceError) || attempt === START_RETRIES.attempts || aborted) throw error;
        await this.#pause(
          Math.min(START_RETRIES.firstDelayMs * 2 ** (attempt - 1), START_RETRIES.longestDelayMs),
        );
      }
    }
  }

  async #openOnce(): Promise<Connection> {
    const link = await this.#named(() => this.#options.open(this.#closing.signal));
    this.#link = link;
    const { limits, onWarning } = this.#options;
    const peer = new Peer<ClientWire>(link.transport, limits ? { limits } : {});
    this.#attach(peer);
    try {
      const server = await this.#named(() => this.#shakeHands(peer), link);
      this.#generation += 1;
      peer.pauseReading(this.#isReadingPaused);
      for (const warning of link.warnings ?? []) onWarning(warning);
      const connection: Connection = { peer, generation: this.#generation, server };
      void peer.closed.then((reason) => this.#lost(connection, link, reason));
      return connection;
    } catch (error) {
      await peer.close();
      await link.close();
      throw error;
    }
  }

  /** Whatever goes wrong before the handshake is done, it is the start or the connecting that failed. */
  async #named<Value>(step: () => Promise<Value>, link?: ServerLink): Promise<Value> {
    try {
      return await step();
    } catch (error) {
      if (CodexError.is(error)) throw error;
      if (this.#closing.signal.aborted) throw closedError();
      const { launched } = this.#options;
      const why = toCodexError(error, { method: "initialize", launched });
      if (link?.explainFailure) throw link.explainFailure(why);
      throw new CodexError(launched ? "codex_start_failed" : "connect_failed", why.message, { cause: why });
    }
  }

  /** Waits, with jitter, so that those that collided don't meet again. Ends early when this is closed. */
  async #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    await delay(ms * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
  }

  #attach(peer: Peer<ClientWire>): void {
    const { onNotification, onRequest, onAnomaly } = this.#options;
    peer.onRest((params, message) => {
      onNotification(message);
      const listeners = this.#listeners.get(message.method);
      if (listeners) for (const listener of listeners) listener(params as never);
    });
    peer.handleRest((_params, { message, signal }) => onRequest(message, signal));
    peer.onAnomaly(onAnomaly);
  }

  async #shakeHands(peer: Peer<ClientWire>): Promise<v1.InitializeResponse> {
    const { initialize, handshakeTimeoutMs, accept } = this.#options;
    // Closing does not wait for a server that never answers.
    const { signal } = this.#closing;
    const server = await peer.request("initialize", initialize, { timeoutMs: handshakeTimeoutMs, signal });
    accept(server);
    await peer.notify("initialized");
    return server;
  }

  #lost(connection: Connection, link: ServerLink, reason: Error): void {
    void this.#current?.then((current) => {
      if (current === connection) this.#current = undefined;
    });
    // What is left of a broken server must not stay: its children hold the workspace.
    if (!(this.#isDetached && link.detach)) void link.close();
    const closed = this.#closing.signal.aborted;
    const code = closed ? "closed" : this.#options.launched ? "app_server_crashed" : "connection_lost";
    const error = new CodexError(code, reason.message, { cause: reason });
    this.#options.onLost(error);
    for (const listener of this.#lostListeners) listener(error);
  }
}

function closedError(): CodexError {
  return new CodexError("closed", "This Codex was closed.");
}
