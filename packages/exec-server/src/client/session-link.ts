import { type CallOptions, Peer, type RawJson, RemoteError, RpcError, type Transport } from "@codexkit/rpc";
import { messageOf } from "@codexkit/rpc/async";
import { setTimeout as delay } from "node:timers/promises";
import { ExecError } from "../errors.ts";
import type { ClientLimits } from "../limits.ts";
import { CODES } from "../wire/refusal.ts";
import type { EnvironmentInfo, ExecCalls, ExecNotices, ExecQuestions, ExecWire } from "../wire/exec-wire.ts";
import type { NetworkAnswer } from "../wire/network-proxy.ts";

/** Receives notifications and requests from the server. */
export interface LinkListener {
  notice<M extends keyof ExecNotices>(method: M, params: ExecNotices[M]): void;
  /** Decides about a host that a process wants to reach. Never rejects. */
  decide(
    question: ExecQuestions["network/policyRequest"]["params"],
    signal: AbortSignal,
  ): Promise<NetworkAnswer>;
  /** The session was resumed on a new connection. Events from the time in between have to be read. */
  resumed(): Promise<void>;
  /** The session has ended and can't be resumed. */
  ended(error: ExecError): void;
}

/** Opens a connection to the server: the first one, and new ones when the last was lost. */
export type TransportDialer = (signal: AbortSignal) => Promise<Transport>;

export interface LinkOptions {
  readonly clientName: string;
  readonly dial: TransportDialer;
  /** The pause before attempt N (from 1) to resume. Default: always `limits.resumeRetryDelayMs`. */
  readonly resumeDelayMs?: ((attempt: number) => number) | undefined;
  /** Whether to dial again after `dial` has failed. Default: always. */
  readonly isRetryable?: ((error: unknown) => boolean) | undefined;
  /** False if a new connection can't restore the session, as with a child's stdio. */
  readonly resumable: boolean;
  readonly limits: ClientLimits;
}

/**
 * Calls that can be repeated if the connection was lost before the response: they change nothing, or are
 * identified by an id.
 */
const REPEATABLE: ReadonlySet<string> = new Set([
  "environment/info",
  "environment/status",
  "process/read",
  "process/write",
  "process/signal",
  "process/terminate",
  "fs/readFile",
  "fs/getMetadata",
  "fs/canonicalize",
  "fs/readDirectory",
  "fs/walk",
]);

const NOTICES: readonly (keyof ExecNotices)[] = [
  "process/output",
  "process/exited",
  "process/closed",
  "http/request/bodyDelta",
  "fs/missingChanged",
  "network/policyDecision",
];

/**
 * The largest response. A file of 512 MiB can't be read in one piece, because JavaScript strings are limited
 * to that length.
 */
const MESSAGE_BYTES = 512 * 1024 * 1024;

/** One session, across reconnects. */
export class SessionLink {
  readonly #options: LinkOptions;
  readonly #listener: LinkListener;
  readonly #stopping = new AbortController();
  #peer: Promise<Peer<ExecWire>>;
  #sessionId: string | undefined;
  #info: EnvironmentInfo | undefined;
  #ended: ExecError | undefined;

  private constructor(options: LinkOptions, listener: LinkListener) {
    this.#options = options;
    this.#listener = listener;
    this.#peer = this.#open(this.#stopping.signal);
    this.#peer.catch(() => {});
  }

  static async connect(options: LinkOptions, listener: LinkListener): Promise<SessionLink> {
    const link = new SessionLink(options, listener);
    await link.#peer;
    return link;
  }

  get sessionId(): string {
    return this.#sessionId ?? "";
  }

  get info(): EnvironmentInfo | undefined {
    return this.#info;
  }

  /** Calls the server. Has no default timeout, because long polls may take any time. */
  async request<M extends keyof ExecCalls>(
    method: M,
    params: ExecCalls[M]["params"],
    options: CallOptions = {},
  ): Promise<ExecCalls[M]["result"]> {
    for (;;) {
      const peer = await this.#current();
      try {
        return await call(peer, method, params, options);
      } catch (error) {
        const cutOff =
          error instanceof RpcError && (error.code === "closed" || error.code === "closed_locally");
        if (!cutOff || !REPEATABLE.has(method) || this.#stopping.signal.aborted) throw asExecError(error);
        // Waits for the next connection instead of reusing the broken one.
        await peer.closed;
        if (!this.#options.resumable) throw asExecError(error);
      }
    }
  }

  /** Pauses or resumes reading of the current connection. */
  async pauseReading(isPaused: boolean): Promise<void> {
    const peer = await this.#current();
    peer.pauseReading(isPaused);
  }

  /** Sends a request whose params have already been serialized. */
  requestRaw<M extends keyof ExecCalls>(
    method: M,
    params: RawJson,
    options: CallOptions = {},
  ): Promise<ExecCalls[M]["result"]> {
    return this.request(method, params as unknown as ExecCalls[M]["params"], options);
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    const peer = await this.#peer.catch(() => undefined);
    await peer?.close();
    this.#finish(new ExecError("disconnected", "The client was closed."));
  }

  async #current(): Promise<Peer<ExecWire>> {
    if (this.#ended) throw this.#ended;
    return this.#peer;
  }

  async #open(signal: AbortSignal, resumeSessionId?: string): Promise<Peer<ExecWire>> {
    const { limits } = this.#options;
    const transport = await this.#options.dial(signal);
    const peer = new Peer<ExecWire>(transport, {
      limits: { inFlight: limits.inFlight, messageBytes: MESSAGE_BYTES },
    });
    // Registered before the handshake, because a resumed session sends notifications as soon as it is
    // attached.
    for (const method of NOTICES) peer.on(method, (params) => this.#listener.notice(method, params as never));
    peer.handle("network/policyRequest", async (question, asked) => ({
      decision: await this.#listener.decide(question, asked.signal),
    }));
    try {
      const { sessionId, environmentInfo } = await peer.request(
        "initialize",
        { clientName: this.#options.clientName, resumeSessionId: resumeSessionId ?? null },
        { timeoutMs: limits.connectTimeoutMs },
      );
      await peer.notify("initialized", {});
      this.#sessionId = sessionId;
      this.#info = environmentInfo ?? (await peer.request("environment/info"));
    } catch (error) {
      await peer.close();
      throw error;
    }
    void peer.closed.then((error) => this.#lost(error));
    return peer;
  }

  #lost(cause: RpcError): void {
    if (this.#stopping.signal.aborted || !this.#options.resumable) {
      this.#finish(new ExecError("disconnected", cause.message, { cause }));
      return;
    }
    this.#peer = this.#resume(cause);
    this.#peer.catch((error: unknown) => this.#finish(asExecError(error)));
  }

  async #resume(cause: RpcError): Promise<Peer<ExecWire>> {
    const { limits, resumeDelayMs = () => limits.resumeRetryDelayMs } = this.#options;
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(limits.resumeTimeoutMs)]);
    let reason: unknown = cause;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const peer = await this.#open(signal, this.#sessionId);
        queueMicrotask(() => void this.#listener.resumed().catch(() => {}));
        return peer;
      } catch (error) {
        const refused =
          error instanceof RemoteError
            ? error.rpcCode !== CODES.sessionBusy
            : this.#options.isRetryable?.(error) === false;
        // An attempt that was interrupted by the deadline has no reason of its own.
        if (!signal.aborted) reason = error;
        if (refused || signal.aborted) {
          throw new ExecError("disconnected", `The session could not be resumed: ${messageOf(reason)}`, {
            cause,
          });
        }
        await delay(resumeDelayMs(attempt), undefined, { signal }).catch(() => {});
      }
    }
  }

  #finish(error: ExecError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#listener.ended(error);
  }
}

function call<M extends keyof ExecCalls>(
  peer: Peer<ExecWire>,
  method: M,
  params: ExecCalls[M]["params"],
  options: CallOptions,
): Promise<ExecCalls[M]["result"]> {
  const request = peer.request.bind(peer) as (
    method: string,
    params: unknown,
    options: CallOptions,
  ) => Promise<ExecCalls[M]["result"]>;
  return request(method, params, { timeoutMs: Infinity, ...options });
}

/** Converts a wire error to an `ExecError`. */
export function asExecError(error: unknown): ExecError {
  if (error instanceof ExecError) return error;
  if (error instanceof RemoteError) {
    const code = error.rpcCode === CODES.notFound ? "not_found" : "refused";
    return new ExecError(code, error.message, { cause: error, rpcCode: error.rpcCode });
  }
  if (error instanceof RpcError && (error.code === "aborted" || error.code === "timeout")) {
    return new ExecError(error.code, error.message, { cause: error });
  }
  if (error instanceof RpcError && error.code === "connect_failed") {
    return new ExecError("connect_failed", error.message, { cause: error });
  }
  return new ExecError("disconnected", messageOf(error), { cause: error });
}
