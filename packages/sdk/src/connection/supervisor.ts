import type { ClientRequests, ClientWire, ServerNotifications, v1, v2 } from "@codexkit/protocol";
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
import { raceAbort, withTimeout } from "@codexkit/rpc/async";
import type { Caller } from "./caller.ts";
import { CALL, withCallLimit } from "./call-limits.ts";
import { toCodexError } from "./translate-error.ts";

/** An open link to a server: a child's stdio, or a socket. */
export interface ServerLink {
  readonly transport: Transport;
  /** PID of a launched server. */
  readonly pid?: number | undefined;
  /** Address for other clients. */
  readonly url?: string | undefined;
  /** Problems that did not prevent the launch. */
  readonly warnings?: readonly string[];
  /** Adds what is known about the server to the error of a failed handshake. */
  explainFailure?(why: CodexError): CodexError;
  /** Closes the link, and the child process if there is one. */
  close(): Promise<void>;
  /** Closes the connection and leaves the server running, where possible. */
  detach?(): Promise<void>;
}

export interface Connection {
  readonly peer: Peer<ClientWire>;
  /** Number of this connection. A thread that was loaded on an older one must be resumed. */
  readonly generation: number;
  readonly server: v1.InitializeResponse;
}

export interface SupervisorOptions {
  /** Launches a server or connects to one. */
  readonly open: (signal: AbortSignal) => Promise<ServerLink>;
  /** Whether the server is a child process. Determines the error code when the connection is lost. */
  readonly launched: boolean;
  readonly initialize: v1.InitializeParams;
  readonly limits?: Partial<RpcLimits>;
  readonly handshakeTimeoutMs: number;
  /** Throws if the server is too old. Called before any other request. */
  readonly accept: (server: v1.InitializeResponse) => void;
  /** Returns the credentials that every new server gets before its first call. */
  readonly login?: () => Promise<v2.LoginAccountParams>;
  readonly onNotification: (message: RawMessage) => void;
  readonly onRequest: (message: RequestMessage, signal: AbortSignal) => unknown;
  readonly onAnomaly: (error: Error) => void;
  readonly onWarning: (message: string) => void;
  /** Called when the connection is lost. The next call opens another. */
  readonly onLost: (error: CodexError) => void;
}

/** Codex needs about 100 ms to create its databases. Ten attempts take about six seconds. */
const START_RETRIES = { attempts: 10, firstDelayMs: 50, longestDelayMs: 1_000 } as const;

/**
 * Keeps one connection to an app-server. The first call opens it; after a loss, the next call opens another. Calls
 * that were pending at the loss are not repeated: only the caller knows whether that is safe.
 */
export class Supervisor implements Caller {
  readonly #options: SupervisorOptions;
  readonly #listeners = new Map<string, Set<(params: never) => void>>();
  readonly #lostListeners = new Set<(error: CodexError) => void>();
  readonly #closing = new AbortController();
  #current: Promise<Connection> | undefined;
  #link: ServerLink | undefined;
  #generation = 0;
  /** Servers that are ending. `close` waits for them. */
  readonly #endingLinks = new Set<Promise<void>>();
  #isReadingPaused = false;
  #isDetached = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Number of the current connection, or of the last one. */
  get generation(): number {
    return this.#current ? this.#generation : 0;
  }

  /** PID of the current server, if it was launched. */
  get pid(): number | undefined {
    return this.#current ? this.#link?.pid : undefined;
  }

  /** Address of the current server for other clients. */
  get url(): string | undefined {
    return this.#current ? this.#link?.url : undefined;
  }

  /** Returns the connection, and opens it if there is none. */
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

  /** Pauses or resumes reading from the server, on this connection and later ones. */
  pauseReading(isPaused: boolean): void {
    this.#isReadingPaused = isPaused;
    void this.#current?.then(
      ({ peer }) => peer.pauseReading(this.#isReadingPaused),
      () => {}, // Nothing to pause.
    );
  }

  /** Calls the listener when the connection is lost or closed. */
  onLost(listener: (error: CodexError) => void): Disposable {
    this.#lostListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#lostListeners.delete(listener) };
  }

  /** Ends the current connection, and the server if it was launched. The next call opens another. */
  async drop(): Promise<void> {
    const connection = await this.#current?.catch(() => undefined);
    const link = this.#link;
    await connection?.peer.close();
    if (link) await this.#closeLink(link);
  }

  /** Closes the connection, and the server if it was launched. Later calls are rejected. */
  async close(): Promise<void> {
    await this.#end(async (link) => link.close());
  }

  /** Closes the connection and leaves the server running, where possible. */
  async detach(): Promise<void> {
    this.#isDetached = true;
    await this.#end(async (link) => (link.detach ? link.detach() : link.close()));
  }

  async #end(endLink: (link: ServerLink) => Promise<void>): Promise<void> {
    if (!this.#closing.signal.aborted) this.#closing.abort(closedError());
    const connection = await this.#current?.catch(() => undefined);
    await connection?.peer.close();
    if (this.#link) await endLink(this.#link);
    // A server that was lost before may still be ending.
    await Promise.allSettled(this.#endingLinks);
  }

  async #closeLink(link: ServerLink): Promise<void> {
    const ending = link.close();
    this.#endingLinks.add(ending);
    try {
      await ending;
    } finally {
      this.#endingLinks.delete(ending);
    }
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
    const link = await this.#translateErrors(() => this.#options.open(this.#closing.signal));
    this.#link = link;
    const { limits, onWarning } = this.#options;
    const peer = new Peer<ClientWire>(link.transport, limits ? { limits } : {});
    this.#attach(peer);
    try {
      const server = await this.#translateErrors(() => this.#initialize(peer), link);
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

  /** Any error before the end of the handshake becomes a failed start or a failed connection. */
  async #translateErrors<Value>(step: () => Promise<Value>, link?: ServerLink): Promise<Value> {
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

  /** Waits with jitter, so that colliding processes don't collide again. Returns early on close. */
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

  async #initialize(peer: Peer<ClientWire>): Promise<v1.InitializeResponse> {
    const { initialize, handshakeTimeoutMs, accept } = this.#options;
    // Close must not wait for a server that never answers.
    const { signal } = this.#closing;
    const server = await peer.request("initialize", initialize, { timeoutMs: handshakeTimeoutMs, signal });
    accept(server);
    await peer.notify("initialized");
    await this.#login(peer);
    return server;
  }

  async #login(peer: Peer<ClientWire>): Promise<void> {
    const { login, handshakeTimeoutMs } = this.#options;
    if (!login) return;
    const completed = Promise.withResolvers<v2.AccountLoginCompletedNotification>();
    using _listening = this.on("account/login/completed", (notice) => completed.resolve(notice));
    const call = { timeoutMs: handshakeTimeoutMs, signal: this.#closing.signal };
    try {
      await peer.request("account/login/start", await login(), call);
    } catch (cause) {
      const why = toCodexError(cause, { method: "account/login/start", launched: this.#options.launched });
      throw new CodexError("request_failed", `Codex did not accept the credentials of auth: ${why.message}`, {
        cause: why,
      });
    }
    // Codex responds before it uses the credentials.
    const late = (): CodexError =>
      new CodexError("timeout", `The login was not completed within ${handshakeTimeoutMs} ms.`);
    const { success, error } = await withTimeout(
      raceAbort(completed.promise, this.#closing.signal, abortedError),
      handshakeTimeoutMs,
      late,
    );
    if (!success)
      throw new CodexError("request_failed", `The login failed: ${error ?? "no reason was given"}.`);
  }

  #lost(connection: Connection, link: ServerLink, reason: Error): void {
    void this.#current?.then((current) => {
      if (current === connection) this.#current = undefined;
    });
    // A broken server must still be ended: its child processes may keep using the workspace.
    if (!(this.#isDetached && link.detach)) void this.#closeLink(link).catch(() => {});
    const closed = this.#closing.signal.aborted;
    const code = closed ? "closed" : this.#options.launched ? "app_server_crashed" : "connection_lost";
    const error = new CodexError(code, reason.message, { cause: reason });
    this.#options.onLost(error);
    for (const listener of this.#lostListeners) listener(error);
  }
}

function closedError(): CodexError {
  return new CodexError("closed", "This Codex object was closed.");
}
