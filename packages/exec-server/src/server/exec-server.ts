import type { Transport } from "@codexkit/rpc";
import { withTimeout } from "@codexkit/rpc/async";
import type { Readable, Writable } from "node:stream";
import { ExecError } from "../errors.ts";
import { EXEC_LIMITS, SERVER_LIMITS, type ServerLimits } from "../limits.ts";
import { type Logger, SILENT } from "../logger.ts";
import { ManagedNetwork } from "../network/managed-network.ts";
import { FifoPool } from "../process/fifo-pool.ts";
import { Launcher } from "../process/launcher.ts";
import { openRuntimeFolder } from "../sandbox/runtime-folder.ts";
import { Sandbox } from "../sandbox/sandbox.ts";
import { EpochFence } from "../session/epoch-fence.ts";
import { SessionStore } from "../session/session-store.ts";
import type { ConnectionOptions } from "./connection.ts";
import { environmentInfo } from "./environment-info.ts";
import { DEFAULT_LISTEN_URL, isLoopback, parseListenUrl } from "./listen-url.ts";
import type { ByteTransport } from "./message-sink.ts";
import { methodTable } from "./method-table.ts";
import { serveStdio } from "./stdio-listener.ts";
import { type AcceptOptions, TransportConnections } from "./transport-connections.ts";
import { assertAuth, type WebSocketAuth } from "./ws-auth.ts";
import { WsListener } from "./ws-listener.ts";

export interface ExecServerOptions {
  /**
   * `ws://IP:PORT` (port 0 picks a free one), `stdio`, or `none` for a server whose only clients are those passed to
   * `accept`. Default `ws://127.0.0.1:0`.
   */
  readonly listen?: string;
  readonly auth?: WebSocketAuth;
  /**
   * Allows a server without `auth` to listen on addresses that other machines can reach. Every client can run
   * anything.
   */
  readonly allowUnauthenticatedRemote?: boolean;
  /**
   * Allows sandboxed commands to use the network although the server has no `auth`. Such a command can
   * connect to the server itself, which then runs anything for it outside the sandbox.
   */
  readonly allowNetworkWithoutAuth?: boolean;
  /** Concurrent requests per connection, not counting control calls. 1 runs them strictly in order. Default: 64. */
  readonly concurrentRequests?: number;
  /** Path of bubblewrap. Default: the system's, or the one in `@openai/codex`. `null` refuses sandboxed requests. */
  readonly bwrap?: string | null;
  /** For stdio: the streams. Default: those of this process. */
  readonly input?: Readable;
  readonly output?: Writable;
  /** Host names under which unauthenticated clients reach the server, besides IP addresses and `localhost`. */
  readonly allowedHosts?: readonly string[];
  /** Receives log records. Default: none are written. */
  readonly log?: Logger;
  /** Limits that differ from `SERVER_LIMITS`. */
  readonly limits?: Partial<ServerLimits>;
}

/** The version of Codex whose protocol is implemented. */
export const PROTOCOL_VERSION = "0.166.0";

/**
 * Runs Codex's processes, PTYs and file operations on this machine, for every client that connects.
 *
 * @example
 * await using server = await ExecServer.start();
 * console.log(server.url); // for CODEX_EXEC_SERVER_URL
 */
export class ExecServer implements AsyncDisposable {
  /** The URL that the server listens on. Undefined for `stdio` and `none`. */
  readonly url: string | undefined;
  /** Resolves when the client of a stdio server has disconnected, or when another server is closed. */
  readonly done: Promise<void>;
  readonly #stack: AsyncDisposableStack;
  readonly #finish: () => void;
  #closing: Promise<void> | undefined;

  readonly #closeTimeoutMs: number;
  readonly #accepted: TransportConnections;

  private constructor(
    url: string | undefined,
    stack: AsyncDisposableStack,
    accepted: TransportConnections,
    closeTimeoutMs: number,
    done: Promise<void> | undefined,
  ) {
    this.#closeTimeoutMs = closeTimeoutMs;
    this.#accepted = accepted;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.url = url;
    this.done = done ?? promise;
    this.#finish = resolve;
    this.#stack = stack;
  }

  static async start(options: ExecServerOptions = {}): Promise<ExecServer> {
    const address = parseListenUrl(options.listen ?? DEFAULT_LISTEN_URL);
    assertSafe(options, address);
    await using starting = new AsyncDisposableStack();
    const limits: ServerLimits = { ...SERVER_LIMITS, ...options.limits };
    const log = options.log ?? SILENT;
    const folder = starting.use(openRuntimeFolder());
    const launcher = starting.use(new Launcher(folder.path));
    const sandbox = starting.use(
      new Sandbox({
        folder,
        limits,
        bwrap: options.bwrap,
        networkObjection: networkObjection(options, address),
      }),
    );
    reportSandbox(options.bwrap, sandbox.isUsable, log);
    const network = starting.use(new ManagedNetwork());
    const fifos = starting.use(new FifoPool(folder));
    const sessions = new SessionStore(limits);
    const info = environmentInfo(PROTOCOL_VERSION, {
      fsWatchMissing: true,
      capabilityDiscoveryV2: true,
      shellSnapshotV2: true,
      httpHeaderEnvVars: true,
      environmentConfigRead: true,
      ...sandbox.capabilities,
    });
    const connection: ConnectionOptions = {
      methods: (onEnd) => methodTable({ info, fifos, launcher, sandbox, network, onEnd }),
      sessions,
      fence: new EpochFence(limits.rememberedSubjects),
      info,
      concurrentRequests: options.concurrentRequests ?? EXEC_LIMITS.concurrentRequests,
      resumable: true,
      limits,
    };
    const accepted = starting.use(new TransportConnections(connection));
    if (address.kind === "none") {
      starting.defer(() => sessions.endAll());
      return new ExecServer(undefined, starting.move(), accepted, limits.closeTimeoutMs, undefined);
    }
    if (address.kind === "stdio") {
      const done = serveStdio(options.input ?? process.stdin, options.output ?? process.stdout, connection);
      starting.defer(() => sessions.endAll());
      return new ExecServer(undefined, starting.move(), accepted, limits.closeTimeoutMs, done);
    }
    const listener = await WsListener.start({
      ...address,
      auth: options.auth,
      allowedHosts: (options.allowedHosts ?? []).map((host) => host.toLowerCase()),
      connection,
      limits,
      log,
    }).catch((cause: unknown) => {
      throw listenError(options.listen ?? DEFAULT_LISTEN_URL, cause);
    });
    starting.defer(() => listener.close());
    // Sessions end first, because a client that holds its connection open must not keep processes running.
    starting.defer(() => {
      listener.stopAccepting();
      sessions.endAll();
    });
    network.ownPort = listener.port;
    log.info("listening", { url: listener.url, sandbox: sandbox.isUsable });
    return new ExecServer(listener.url, starting.move(), accepted, limits.closeTimeoutMs, undefined);
  }

  /**
   * Serves a client that is connected by other means than the listener, until the transport closes. Sessions
   * are shared with all other connections of this server, so a client can resume its session on a new
   * transport. The caller must have authenticated the client.
   */
  accept(transport: Transport | ByteTransport, options: AcceptOptions = {}): void {
    this.#accepted.add(transport, options);
  }

  /** Ends every session and process, then every connection. Resolves within `limits.closeTimeoutMs`. */
  close(): Promise<void> {
    this.#closing ??= this.#closeWithin(this.#closeTimeoutMs).finally(this.#finish);
    return this.#closing;
  }

  async #closeWithin(timeoutMs: number): Promise<void> {
    const late = new ExecError("timeout", `Closing took longer than ${timeoutMs} ms.`);
    // The rest ends in the background.
    await withTimeout(this.#stack.disposeAsync(), timeoutMs, () => late).catch((error: unknown) => {
      if (error !== late) throw error;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Reports a sandbox that can't work: as an error if it was configured, and as a warning otherwise. */
function reportSandbox(bwrap: string | null | undefined, isUsable: boolean, log: Logger): void {
  if (isUsable || bwrap === null) return;
  if (bwrap !== undefined)
    throw new ExecError(
      "bad_option",
      `--bwrap ${bwrap} is not a bubblewrap that can create sandboxes on this machine.`,
    );
  log.warn("no working bubblewrap was found, so requests with a sandbox are refused", {
    advice: "install bubblewrap, or allow unprivileged user namespaces",
  });
}

function listenError(url: string, cause: unknown): ExecError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  const advice =
    code === "EADDRINUSE" ? " Another program uses this port. Choose another one, or port 0." : "";
  return new ExecError("bad_option", `The server can't listen on ${url} (${code}).${advice}`, { cause });
}

/**
 * A command with network access can reach this server too, and could leave its sandbox that way if there is
 * no `auth`.
 */
function networkObjection(
  { auth, allowNetworkWithoutAuth }: ExecServerOptions,
  { kind }: ReturnType<typeof parseListenUrl>,
): string | undefined {
  if (kind !== "ws" || auth || allowNetworkWithoutAuth === true) return undefined;
  return (
    "A command with network access could connect to this server, which has no authentication, and run anything " +
    "outside the sandbox. Start the server with --ws-auth (auth) or --allow-network-without-auth (allowNetworkWithoutAuth)."
  );
}

function assertSafe(options: ExecServerOptions, address: ReturnType<typeof parseListenUrl>): void {
  if (process.platform === "win32")
    throw new ExecError("bad_option", "The exec-server requires Linux or macOS.");
  if (options.auth) assertAuth(options.auth);
  if (address.kind !== "ws") {
    if (options.auth)
      throw new ExecError(
        "bad_option",
        `auth (--ws-auth) applies only to WebSocket listeners, but listen is "${address.kind}".`,
      );
    return;
  }
  if (isLoopback(address.host) || options.auth || options.allowUnauthenticatedRemote === true) return;
  throw new ExecError(
    "bad_option",
    `Other machines can reach ${address.host}, and every client can run anything. Set auth (--ws-auth) or allowUnauthenticatedRemote (--allow-unauthenticated-remote).`,
  );
}
