import { type ClientRequests, CODEX_VERSION, type v1, type v2 } from "@codexkit/protocol";
import type { CallOptions, ParamsArgument, Transport } from "@codexkit/rpc";
import {
  checkCodexOptions,
  type CodexOptions,
  CONNECT,
  type ConnectOptions,
  EVENTS,
  type EventsOptions,
  LAUNCH,
  type LaunchOptions,
  LIST_THREADS,
  SEARCH_THREADS,
  TRANSPORT,
  type TransportOptions,
} from "./codex-options.ts";
import { toLoginParams, withTokenRefresh } from "./codex-auth.ts";
import { observedOpen } from "./connection/observe-transport.ts";
import { type ServerLink, Supervisor } from "./connection/supervisor.ts";
import { ThreadRouter } from "./routing/thread-router.ts";
import type { CodexEvent } from "./events/event.ts";
import { rejectUnknownOptions } from "./options/reject-unknown-options.ts";
import { takeEarlyLaunch } from "./process/early-launch.ts";
import { launchAppServer } from "./process/launch-app-server.ts";
import type { OutliveOwner } from "./process/launch-keeper.ts";
import { checkVersion } from "./process/version.ts";
import { ServerRequestBroker } from "./requests/server-request-broker.ts";
import type { ForkThreadOptions, ResumeThreadOptions, StartThreadOptions } from "./thread/thread-options.ts";
import { ThreadRegistry } from "./thread/thread-registry.ts";
import type { Thread } from "./thread/thread.ts";
import { paginate } from "./topics/paginate.ts";
import { createTopics, type Topics } from "./topics/create-topics.ts";
import { raceAbort } from "@codexkit/rpc/async";
import { abortedError, type CodexError } from "./errors.ts";
import { TurnReconciler } from "./routing/turn-reconciler.ts";

/** Version of this package. A test compares it with package.json. */
export const VERSION = "0.1.0";

const HANDSHAKE_TIMEOUT_MS = 20_000;

/**
 * A Codex app-server. One long-lived process serves any number of threads and turns. If it dies, its turns fail with
 * `app_server_crashed`, the next call starts another, and threads resume by ID.
 *
 * @example
 * await using codex = await Codex.launch();
 * const thread = await codex.startThread({ cwd: process.cwd(), sandbox: "workspace-write" });
 * const { finalResponse } = await thread.run("What does this project do?");
 */
export class Codex implements Topics, AsyncDisposable {
  readonly account: Topics["account"];
  readonly apps: Topics["apps"];
  readonly collaborationModes: Topics["collaborationModes"];
  readonly config: Topics["config"];
  readonly diagnostics: Topics["diagnostics"];
  readonly environments: Topics["environments"];
  readonly exec: Topics["exec"];
  readonly features: Topics["features"];
  readonly feedback: Topics["feedback"];
  readonly files: Topics["files"];
  readonly hooks: Topics["hooks"];
  readonly mcp: Topics["mcp"];
  readonly models: Topics["models"];
  readonly permissionProfiles: Topics["permissionProfiles"];
  readonly plugins: Topics["plugins"];
  readonly skills: Topics["skills"];
  readonly #supervisor: Supervisor;
  readonly #router = new ThreadRouter((isPaused) => this.#supervisor.pauseReading(isPaused));
  readonly #threads: ThreadRegistry;
  readonly #reconciler: TurnReconciler;

  private constructor(
    options: CodexOptions & Pick<LaunchOptions, "auth">,
    link: Pick<SupervisorLink, "open" | "launched" | "local">,
  ) {
    const { auth, onPacket } = options;
    const handlers = withTokenRefresh(auth, options.handlers);
    const broker = new ServerRequestBroker({
      handlersFor: (threadId) => [
        ...(threadId === undefined ? [] : this.#threads.handlersFor(threadId)),
        ...(handlers ? [handlers] : []),
      ],
      itemFor: (threadId, itemId) => this.#router.item(threadId, itemId),
      itemsOf: (threadId) => this.#router.items(threadId),
      emit: (event) => this.#router.publish(event),
      ...(options.approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs: options.approvalTimeoutMs }),
    });
    this.#supervisor = new Supervisor({
      open: onPacket === undefined ? link.open : observedOpen(link.open, onPacket),
      launched: link.launched,
      initialize: initializeParams(options),
      handshakeTimeoutMs: options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
      ...(options.limits ? { limits: options.limits } : {}),
      accept: ({ userAgent }) => this.#acceptVersion(userAgent, options.minimumVersion),
      ...(auth ? { login: () => toLoginParams(auth) } : {}),
      onNotification: (message) => {
        options.onNotification?.(message);
        this.#router.route(message);
      },
      onRequest: (message, signal) => broker.receive(message, signal),
      onAnomaly: (error) =>
        this.#router.publish({ type: "warning", kind: "malformed", message: error.message }),
      onWarning: (message) => this.#router.publish({ type: "warning", kind: "launch", message }),
      onLost: (error) => {
        broker.connectionEnded(error);
        this.#router.failAll(error);
      },
    });
    this.#supervisor.on("serverRequest/resolved", (resolved) => broker.resolved(resolved));
    this.#router.onTurnEnd(({ threadId, turnId }) => broker.turnEnded(threadId, turnId));
    this.#supervisor.on("thread/closed", ({ threadId }) => broker.threadEnded(threadId));
    this.#threads = new ThreadRegistry(this.#supervisor, this.#router, {
      local: link.local,
      onReleased: (threadId) => broker.threadEnded(threadId),
    });
    this.#reconciler = new TurnReconciler(this.#supervisor, this.#router, options.reconcile);
    ({
      account: this.account,
      apps: this.apps,
      collaborationModes: this.collaborationModes,
      config: this.config,
      diagnostics: this.diagnostics,
      environments: this.environments,
      exec: this.exec,
      features: this.features,
      feedback: this.feedback,
      files: this.files,
      hooks: this.hooks,
      mcp: this.mcp,
      models: this.models,
      permissionProfiles: this.permissionProfiles,
      plugins: this.plugins,
      skills: this.skills,
    } = createTopics(this.#supervisor));
  }

  /** Launches a codex process that ends with this object. Rejects with the end of its stderr if it can't start. */
  static async launch(options: LaunchOptions = {}): Promise<Codex> {
    checkCodexOptions("Codex.launch", options, LAUNCH);
    const { processLimits, limits: _rpc, signal: given, outliveOwner, auth: _auth, ...rest } = options;
    const openKept = async (signal: AbortSignal, kept: OutliveOwner): Promise<ServerLink> => {
      // Loaded here, because few programs need it and codex waits for its first request meanwhile.
      const { launchKeeper } = await import("./process/launch-keeper.ts");
      const server = await launchKeeper({ ...rest, limits: processLimits, signal }, kept);
      return {
        transport: server.transport,
        pid: server.codexPid,
        url: server.url,
        warnings: server.warnings,
        explainFailure: (error) => server.explainFailure(error),
        close: () => server.dispose(),
        detach: () => server.detach(),
      };
    };
    const open = async (signal: AbortSignal): Promise<ServerLink> => {
      if (outliveOwner) return openKept(signal, outliveOwner);
      const server = await (takeEarlyLaunch(options) ??
        launchAppServer({ ...rest, limits: processLimits, signal }));
      return {
        transport: server.transport,
        pid: server.process.child.pid,
        url: server.url,
        warnings: server.warnings,
        explainFailure: (error) => server.explainFailure(error),
        close: () => server.dispose(),
      };
    };
    return Codex.#opened(new Codex(options, { open, launched: true, local: true }), given);
  }

  /** Connects to a running server at `ws://…`, `wss://…` or `unix:///path`. */
  static async connect(url: string | URL, options: ConnectOptions = {}): Promise<Codex> {
    checkCodexOptions("Codex.connect", options, CONNECT);
    const { token, headers, connectTimeoutMs, limits, local = String(url).startsWith("unix:") } = options;
    const open = async (signal: AbortSignal): Promise<ServerLink> => {
      const { connectToServer } = await import("./process/connect-to-server.ts");
      const transport = await connectToServer(url, {
        signal,
        ...(token === undefined ? {} : { token }),
        ...(headers ? { headers } : {}),
        ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
        ...(limits ? { limits } : {}),
      });
      return { transport, url: String(url), close: () => transport.close() };
    };
    return Codex.#opened(new Codex(options, { open, launched: false, local }), options.signal);
  }

  /**
   * Uses connections that the caller opens: through a tunnel, into a container, in memory.
   * @param open Opens a connection that is not initialized yet. Called again after a connection was lost.
   */
  static async withTransport(
    open: (signal: AbortSignal) => Promise<Transport>,
    options: TransportOptions = {},
  ): Promise<Codex> {
    checkCodexOptions("Codex.withTransport", options, TRANSPORT);
    const openLink = async (signal: AbortSignal): Promise<ServerLink> => {
      const transport = await open(signal);
      return { transport, close: () => transport.close() };
    };
    const link = { open: openLink, launched: false, local: options.local ?? false };
    return Codex.#opened(new Codex(options, link), options.signal);
  }

  static async #opened(codex: Codex, signal: AbortSignal | undefined): Promise<Codex> {
    try {
      await raceAbort(codex.#supervisor.connect(), signal, abortedError);
      return codex;
    } catch (error) {
      await codex.close();
      throw error;
    }
  }

  /** PID of the launched codex. Undefined if none is running or if connected to an existing server. */
  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  /** Address of the server for `Codex.connect`. Undefined if none is running or if it listens on stdio. */
  get url(): string | undefined {
    return this.#supervisor.url;
  }

  /** The server's response to the handshake. */
  async server(): Promise<v1.InitializeResponse> {
    return (await this.#supervisor.connect()).server;
  }

  startThread(options: StartThreadOptions = {}, call: CallOptions = {}): Promise<Thread> {
    return this.#threads.start(options, call);
  }

  /** Resumes a thread. Its history is not loaded: page through it with `thread.history`. */
  resumeThread(threadId: string, options: ResumeThreadOptions = {}, call: CallOptions = {}): Promise<Thread> {
    return this.#threads.resume(threadId, options, call);
  }

  /** Copies a thread: all of it, through `lastTurnId`, or up to `beforeTurnId`. */
  forkThread(threadId: string, options: ForkThreadOptions = {}, call: CallOptions = {}): Promise<Thread> {
    return this.#threads.fork(threadId, options, call);
  }

  /** Lists stored threads, newest first by default. Pages are fetched on demand. */
  listThreads(
    options: Omit<v2.ThreadListParams, "cursor"> = {},
    call: CallOptions = {},
  ): AsyncGenerator<v2.Thread, void, undefined> {
    rejectUnknownOptions("listThreads", options, LIST_THREADS);
    return paginate((cursor) => this.request("thread/list", { ...options, cursor }, call));
  }

  /** Lists threads that contain the search term, each with a snippet. */
  searchThreads(
    searchTerm: string,
    options: Omit<v2.ThreadSearchParams, "cursor" | "searchTerm"> = {},
    call: CallOptions = {},
  ): AsyncGenerator<v2.ThreadSearchResult, void, undefined> {
    rejectUnknownOptions("searchThreads", options, SEARCH_THREADS);
    return paginate((cursor) => this.request("thread/search", { ...options, searchTerm, cursor }, call));
  }

  /** Reads a thread without loading it, even if another process is writing to it. */
  async readThread(threadId: string, call: CallOptions = {}): Promise<v2.Thread> {
    return (await this.request("thread/read", { threadId, includeTurns: false }, call)).thread;
  }

  async deleteThread(threadId: string, call: CallOptions = {}): Promise<void> {
    await this.request("thread/delete", { threadId }, call);
  }

  /**
   * Yields all events received from now on, including those without a thread. With `lossless`, no event is merged or
   * dropped for a slow reader; instead nothing is read from codex, neither events nor responses, until the reader has
   * caught up.
   */
  events(options: EventsOptions = {}): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    rejectUnknownOptions("events", options, EVENTS);
    return options.lossless === true ? this.#router.readLossless() : this.#router.events.read();
  }

  /** Sends any request of the app-server, typed. */
  request<M extends keyof ClientRequests>(
    method: M,
    ...args: ParamsArgument<ClientRequests[M]["params"], [options?: CallOptions]>
  ): Promise<ClientRequests[M]["result"]> {
    return this.#supervisor.request(method, ...args);
  }

  /** Listens to a notification as received, from the current server and later ones. */
  on: Supervisor["on"] = (method, listener) => this.#supervisor.on(method, listener);

  /** Calls the listener when the connection is lost, or closed by this program (`code` is then `closed`). */
  onDisconnect(listener: (error: CodexError) => void): Disposable {
    return this.#supervisor.onLost(listener);
  }

  /** Closes the connection and, if it was launched here, the server. Running turns fail with `closed`. */
  async close(): Promise<void> {
    this.#reconciler[Symbol.dispose]();
    await this.#supervisor.close();
    this.#router.close();
  }

  /**
   * Closes the connection and leaves the server running, if it was launched with `outliveOwner` or connected to;
   * otherwise the same as `close`. Running turns fail here with `closed` and continue on the server.
   */
  async detach(): Promise<void> {
    this.#reconciler[Symbol.dispose]();
    await this.#supervisor.detach();
    this.#router.close();
  }

  /**
   * Ends a launched server that no longer responds, unless a turn is running on a thread other than the given ones. The next call
   * launches another, and threads are resumed on it. Returns whether it was ended; false for a server that was not launched here.
   */
  async restartIfIdle(options: { readonly except?: readonly string[] } = {}): Promise<boolean> {
    const { except = [] } = options;
    const isBusy = this.#router.busyThreads.some((threadId) => !except.includes(threadId));
    if (isBusy || this.pid === undefined) return false;
    await this.#supervisor.drop();
    return true;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #acceptVersion(userAgent: string, minimum: string | undefined): void {
    const { warning } = checkVersion(userAgent, { minimum, generated: CODEX_VERSION });
    if (warning !== undefined) this.#router.publish({ type: "warning", kind: "version", message: warning });
  }
}

interface SupervisorLink {
  readonly open: (signal: AbortSignal) => Promise<ServerLink>;
  readonly launched: boolean;
  readonly local: boolean;
}

function initializeParams(options: CodexOptions): v1.InitializeParams {
  const { clientInfo, experimentalApi = true, optOutNotifications, extensions } = options;
  return {
    clientInfo: { name: "codexkit", version: VERSION, ...clientInfo, title: clientInfo?.title ?? null },
    capabilities: {
      experimentalApi,
      requestAttestation: options.handlers?.attestation !== undefined,
      ...(optOutNotifications ? { optOutNotificationMethods: [...optOutNotifications] } : {}),
      ...(extensions ? { extensions } : {}),
    },
  };
}
