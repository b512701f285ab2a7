import { type CallOptions, connectWebSocket } from "@codexkit/rpc";
import { randomUUID } from "node:crypto";
import { ExecError, type ExecErrorCode } from "../errors.ts";
import { CLIENT_LIMITS, type ClientLimits, EXEC_LIMITS } from "../limits.ts";
import type {
  EnvironmentInfo,
  ExecCalls,
  ExecNotices,
  ExecQuestions,
  HttpResult,
} from "../wire/exec-wire.ts";
import { type NetworkAnswer, NOT_ALLOWED } from "../wire/network-proxy.ts";
import { HttpBodies } from "./http-bodies.ts";
import { type LaunchCommand, LaunchTransport } from "./launch-transport.ts";
import { asUri, RemoteFiles, type RemotePath } from "./remote-files.ts";
import { NetworkWatch, type NetworkWatcher } from "./network-watch.ts";
import { type ProcessOutput, type RemoteProcess, TrackedProcess } from "./remote-process.ts";
import {
  asExecError,
  type LinkListener,
  type LinkOptions,
  SessionLink,
  type TransportDialer,
} from "./session-link.ts";

export interface ExecClientOptions {
  /** The name under which the client introduces itself. */
  readonly clientName?: string;
  /** Limits that differ from `CLIENT_LIMITS`. */
  readonly limits?: Partial<ClientLimits>;
}

export interface ExecConnectOptions extends ExecClientOptions {
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string;
  /** Whether to reconnect and resume the session after a lost connection, for up to 25 s. Default: true. */
  readonly resume?: boolean;
  readonly signal?: AbortSignal;
}

export interface ExecDialOptions extends ExecClientOptions {
  /** Whether to dial again and resume the session after a lost connection, for up to 25 s. Default: true. */
  readonly resume?: boolean;
  /** The pause before attempt N (from 1) to resume. Default: `limits.resumeRetryDelayMs`. */
  readonly resumeDelayMs?: (attempt: number) => number;
  /** Whether to dial again after an attempt to resume failed with this error. Default: always. */
  readonly isRetryable?: (error: unknown) => boolean;
}

export interface StartOptions extends Omit<
  ExecCalls["process/start"]["params"],
  "processId" | "cwd" | "env" | "tty"
> {
  /** Default: a random UUID. */
  readonly processId?: string;
  readonly cwd: RemotePath;
  /** The complete environment, unless `envPolicy` is given. Default: only a PATH. */
  readonly env?: Record<string, string>;
  readonly tty?: boolean;
  /** Receives output as it arrives, instead of the iterator. */
  readonly onOutput?: (output: ProcessOutput) => void;
  /** Decides about hosts that its `networkProxy` leaves open. Without it they are denied. */
  readonly onNetworkRequest?: NetworkWatcher["onNetworkRequest"];
  /** Receives the outcome of each network request. Not every outcome is reported. */
  readonly onNetworkDecision?: NetworkWatcher["onNetworkDecision"];
}

export type HttpRequestOptions = Omit<ExecCalls["http/request"]["params"], "requestId" | "streamResponse">;

export interface StreamedHttpResult extends Omit<HttpResult, "bodyBase64"> {
  readonly body: AsyncIterable<Buffer>;
}

/** Codes of a call that may have reached the server. */
const UNANSWERED: ReadonlySet<ExecErrorCode> = new Set(["disconnected", "aborted", "timeout"]);

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * A client of an exec-server: codexkit's or Codex's own.
 *
 * @example
 * await using client = await ExecClient.connect("ws://127.0.0.1:4500");
 * const process = await client.start({ argv: ["make", "test"], cwd: "/work" });
 * const { exitCode, stdout } = await process.collect();
 */
export class ExecClient implements AsyncDisposable {
  readonly files: RemoteFiles;
  /** Resolves with the reason when the session has ended and can't be resumed. Never rejects. */
  readonly closed: Promise<ExecError>;
  readonly #link: SessionLink;
  readonly #routes: Routes;
  readonly #limits: ClientLimits;

  private constructor(link: SessionLink, routes: Routes, limits: ClientLimits) {
    this.#limits = limits;
    this.#link = link;
    this.#routes = routes;
    this.files = new RemoteFiles(link);
    this.closed = routes.end;
  }

  /** Connects to `ws://…`, `wss://…` or `unix:///path`. */
  static async connect(url: string | URL, options: ExecConnectOptions = {}): Promise<ExecClient> {
    const { token, signal: given } = options;
    const link = shared(options);
    return ExecClient.#open({
      ...link,
      resumable: options.resume ?? true,
      dial: (signal) =>
        connectWebSocket(url, {
          ...(token === undefined ? {} : { token }),
          signal: given ? AbortSignal.any([given, signal]) : signal,
          connectTimeoutMs: link.limits.connectTimeoutMs,
          limits: { messageBytes: EXEC_LIMITS.fileBytes },
        }),
    });
  }

  /**
   * Connects over transports that the caller opens: `dial` is called for the first connection, and again to resume the
   * session after a lost one. Its signal aborts when the client is closed, or has tried to resume for too long.
   */
  static connectWith(dial: TransportDialer, options: ExecDialOptions = {}): Promise<ExecClient> {
    return ExecClient.#open({
      ...shared(options),
      resumable: options.resume ?? true,
      dial,
      resumeDelayMs: options.resumeDelayMs,
      isRetryable: options.isRetryable,
    });
  }

  /** Starts a server as a child process and connects to it over stdio. The server ends with the client. */
  static async launch(command: LaunchCommand, options: ExecClientOptions = {}): Promise<ExecClient> {
    const link = shared(options);
    return ExecClient.#open({
      ...link,
      resumable: false,
      dial: () => LaunchTransport.start(command, link.limits),
    });
  }

  static async #open(options: LinkOptions): Promise<ExecClient> {
    const routes = new Routes();
    try {
      const link = await SessionLink.connect(options, routes);
      routes.link = link;
      return new ExecClient(link, routes, options.limits);
    } catch (error) {
      throw asExecError(error);
    }
  }

  get sessionId(): string {
    return this.#link.sessionId;
  }

  /** The server's description of its machine. */
  get environment(): EnvironmentInfo | undefined {
    return this.#link.info;
  }

  /** Starts a process. Resolves when the server has started it. */
  async start(options: StartOptions, callOptions: CallOptions = {}): Promise<RemoteProcess> {
    const { processId = randomUUID(), cwd, onOutput, onNetworkRequest, onNetworkDecision, ...rest } = options;
    const network = new NetworkWatch({ onNetworkRequest, onNetworkDecision });
    const params = {
      env: { PATH: DEFAULT_PATH },
      tty: false,
      ...rest,
      ...network.params(rest.networkProxy),
      processId,
      cwd: asUri(cwd),
    };
    const process = new TrackedProcess(processId, this.#link, this.#limits, onOutput);
    this.#routes.add(process, network);
    try {
      await this.#link.request("process/start", params, callOptions);
    } catch (error) {
      this.#routes.remove(process);
      this.#terminateUnanswered(processId, error);
      throw error;
    }
    return process;
  }

  /** Terminates a process whose start got no answer: the server may have started it, and its caller has no other way to end it. */
  #terminateUnanswered(processId: string, error: unknown): void {
    if (!ExecError.is(error) || !UNANSWERED.has(error.code)) return;
    // In the background, because it may have to wait for the next connection. It fails if the session has ended.
    this.#link.request("process/terminate", { processId }).catch(() => {});
  }

  /** Sends an HTTP request from the server's machine. The body is received in one piece. */
  http(params: HttpRequestOptions, options: CallOptions = {}): Promise<HttpResult> {
    return this.#link.request(
      "http/request",
      { ...params, requestId: randomUUID(), streamResponse: false },
      options,
    );
  }

  /** As `http`, with the body as a stream. */
  async httpStream(params: HttpRequestOptions, options: CallOptions = {}): Promise<StreamedHttpResult> {
    const requestId = randomUUID();
    const body = this.#routes.bodies.open(requestId);
    try {
      const answer = await this.#link.request(
        "http/request",
        { ...params, requestId, streamResponse: true },
        options,
      );
      return { status: answer.status, headers: answer.headers, body };
    } catch (error) {
      body.cancel();
      throw error;
    }
  }

  /** Sends any request of the protocol. */
  request<M extends keyof ExecCalls>(
    method: M,
    params: ExecCalls[M]["params"],
    options: CallOptions = {},
  ): Promise<ExecCalls[M]["result"]> {
    return this.#link.request(method, params, options);
  }

  /**
   * Pauses or resumes reading from the server, for a listener that can't keep up: the server stops reading the output of its
   * processes, which block. Responses are delayed as well. A new connection starts unpaused.
   */
  async pauseReading(isPaused: boolean): Promise<void> {
    await this.#link.pauseReading(isPaused);
  }

  /** Closes the connection. The server keeps the session's processes running for 30 s: kill those that should end earlier. */
  close(): Promise<void> {
    return this.#link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function shared(options: ExecClientOptions): Pick<LinkOptions, "clientName" | "limits"> {
  return {
    clientName: options.clientName ?? "codexkit",
    limits: { ...CLIENT_LIMITS, ...options.limits },
  };
}

/** Routes events to their processes, and pieces of HTTP bodies to their readers. */
class Routes implements LinkListener {
  readonly bodies = new HttpBodies();
  readonly end: Promise<ExecError>;
  link: SessionLink | undefined;
  readonly #processes = new Map<string, TrackedProcess>();
  readonly #networks = new Map<string, NetworkWatch>();
  readonly #settle: (error: ExecError) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<ExecError>();
    this.end = promise;
    this.#settle = resolve;
  }

  add(process: TrackedProcess, network: NetworkWatch): void {
    if (this.#processes.has(process.id)) {
      throw new ExecError("refused", `process ${process.id} was started by this client already`);
    }
    this.#processes.set(process.id, process);
    this.#networks.set(process.id, network);
  }

  remove(process: TrackedProcess): void {
    if (this.#processes.get(process.id) !== process) return;
    this.#processes.delete(process.id);
    this.#networks.delete(process.id);
  }

  async decide(
    { processId, request }: ExecQuestions["network/policyRequest"]["params"],
    signal: AbortSignal,
  ): Promise<NetworkAnswer> {
    return (await this.#networks.get(processId)?.decide(request, signal)) ?? NOT_ALLOWED;
  }

  notice(method: keyof ExecNotices, params: never): void {
    if (method === "http/request/bodyDelta") return this.bodies.receive(params);
    if (method === "fs/missingChanged") return;
    const { processId } = params as { processId: string };
    if (method === "network/policyDecision") return this.#networks.get(processId)?.receive(params);
    const process = this.#processes.get(processId);
    if (!process) return;
    if (method === "process/output") process.receiveOutput(params);
    else if (method === "process/exited") process.receiveExited(params);
    else process.receiveClosed(params);
    if (process.isOver) this.remove(process);
  }

  async resumed(): Promise<void> {
    this.bodies.failAll(new ExecError("disconnected", "a streamed body does not survive its connection"));
    await Promise.all([...this.#processes.values()].map((process) => this.#catchUp(process)));
  }

  /** Reads the output of the time without a connection. Notifications that arrive meanwhile are put in order. */
  async #catchUp(process: TrackedProcess): Promise<void> {
    try {
      const result = await this.link?.request("process/read", {
        processId: process.id,
        afterSeq: process.lastSeq,
        maxBytes: null,
        waitMs: 0,
      });
      if (result) process.recover(result);
    } catch (error) {
      process.fail(asExecError(error));
    }
    if (process.isOver) this.remove(process);
  }

  ended(error: ExecError): void {
    for (const process of this.#processes.values()) process.fail(error);
    this.#processes.clear();
    this.#networks.clear();
    this.bodies.failAll(error);
    this.#settle(error);
  }
}
