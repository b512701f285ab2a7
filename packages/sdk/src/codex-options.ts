import type { v1, v2 } from "@codexkit/protocol";
import type { RpcLimits } from "@codexkit/rpc";
import { checkAuth, type CodexAuth } from "./codex-auth.ts";
import type { Packet } from "./connection/observe-transport.ts";
import type { RawMessage } from "./events/event.ts";
import {
  checkLimits,
  checkSignal,
  type OptionKeys,
  rejectUnknownOptions,
} from "./options/reject-unknown-options.ts";
import type { LaunchAppServerOptions } from "./process/launch-app-server.ts";
import type { OutliveOwner } from "./process/launch-keeper.ts";
import type { ProcessLimits } from "./process/limits.ts";
import { HANDLERS, type ServerRequestHandlers } from "./requests/handlers.ts";
import { RECONCILE, type ReconcileTimes } from "./routing/turn-reconciler.ts";

/** Options of `Codex.launch`, `Codex.connect` and `Codex.withTransport`. */
export interface CodexOptions {
  /** Identifies this program. Codex includes it in its user agent and logs. */
  readonly clientInfo?: { readonly name: string; readonly version: string; readonly title?: string };
  /** Whether to enable Codex's experimental API: tools, queues, search and more. Default: true. */
  readonly experimentalApi?: boolean;
  /** Exact names of notifications that the server should not send. */
  readonly optOutNotifications?: readonly string[];
  /**
   * Called with every notification as received, starting with the first. Configuration warnings arrive during the
   * handshake, before there is a `Codex` to call `on` on.
   */
  readonly onNotification?: (message: RawMessage) => void;
  /** MCP extensions that this program supports, such as `openai/form`. */
  readonly extensions?: NonNullable<v1.InitializeCapabilities["extensions"]>;
  /**
   * Handlers for the server's requests, for threads that don't have their own handlers. Unhandled requests are
   * denied.
   */
  readonly handlers?: ServerRequestHandlers;
  /**
   * Time limit of the handlers of approvals and questions; then the request is denied. Default: until the turn ends.
   */
  readonly approvalTimeoutMs?: number;
  /** Oldest accepted release of Codex. Default: the release that the types were generated from. */
  readonly minimumVersion?: string;
  /** Aborts launching or connecting. Afterwards, close the `Codex` instead. */
  readonly signal?: AbortSignal;
  /** Timeout of the handshake. Default: 20 s. */
  readonly handshakeTimeoutMs?: number;
  /** Limits of the connection: calls in flight, bytes, timeouts. */
  readonly limits?: Partial<RpcLimits>;
  /** When to ask the server about turns without notifications. */
  readonly reconcile?: ReconcileTimes;
  /** Receives every message to and from the server. Messages contain prompts and credentials: log them with care. */
  readonly onPacket?: (packet: Packet) => void;
}

/** Options for finding, configuring and starting a server. */
export interface LaunchOptions extends CodexOptions, Omit<LaunchAppServerOptions, "limits" | "signal"> {
  /** Timeouts of each step of the child's shutdown. */
  readonly processLimits?: LaunchAppServerOptions["limits"];
  /**
   * Keeps the server running when this program dies, even by `kill -9`, for a successor to attach to with
   * `Codex.connect(codex.url)`. It exits when no client has been connected for `graceMs`. It listens on a unix
   * socket: in a private folder, or at `listen`. `close()` ends it at once; `detach()` leaves it running for its
   * grace period.
   */
  readonly outliveOwner?: OutliveOwner;
  /**
   * How the server signs in. Default: with the credentials in its home. Requires a private `codexHome`, because a login
   * changes the credentials of every program that shares the home.
   */
  readonly auth?: CodexAuth;
}

/** Options for a server that this program did not launch. */
export interface TransportOptions extends CodexOptions {
  /**
   * Whether the server shares this file system, so that paths can be validated early. Default: true for unix sockets.
   */
  readonly local?: boolean | undefined;
}

/** Options for connecting to a running server. */
export interface ConnectOptions extends TransportOptions {
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs?: number;
}

export interface EventsOptions {
  /**
   * Delivers every event unmerged, however slow the reader is. While the reader is behind, nothing is read from
   * codex, which delays all calls: don't await a call inside the loop. A server behind a WebSocket disconnects a
   * client that is 32,768 messages behind.
   */
  readonly lossless?: boolean;
}

// Names of all options as values, because types don't exist at run time.

const CODEX: OptionKeys<CodexOptions> = {
  clientInfo: true,
  experimentalApi: true,
  optOutNotifications: true,
  extensions: true,
  handlers: true,
  approvalTimeoutMs: true,
  minimumVersion: true,
  signal: true,
  handshakeTimeoutMs: true,
  limits: true,
  reconcile: true,
  onNotification: true,
  onPacket: true,
};

export const LAUNCH: OptionKeys<LaunchOptions> = {
  ...CODEX,
  codexPath: true,
  wrapperArgs: true,
  env: true,
  inheritEnv: true,
  codexHome: true,
  cwd: true,
  listen: true,
  token: true,
  onStderr: true,
  onSpawn: true,
  ownersFolder: true,
  processLimits: true,
  outliveOwner: true,
  auth: true,
  config: true,
  configOverrides: true,
  enable: true,
  disable: true,
  strictConfig: true,
  args: true,
};

export const TRANSPORT: OptionKeys<TransportOptions> = { ...CODEX, local: true };

export const CONNECT: OptionKeys<ConnectOptions> = {
  ...TRANSPORT,
  token: true,
  headers: true,
  connectTimeoutMs: true,
};

export const EVENTS: OptionKeys<EventsOptions> = { lossless: true };

const OUTLIVE_OWNER: OptionKeys<OutliveOwner> = { graceMs: true, register: true };

const CLIENT_INFO: OptionKeys<NonNullable<CodexOptions["clientInfo"]>> = {
  name: true,
  version: true,
  title: true,
};

const LIMITS: OptionKeys<RpcLimits> = {
  messageBytes: true,
  inFlight: true,
  queuedCalls: true,
  inboundRequests: true,
  bufferedBytes: true,
  callTimeoutMs: true,
  overloadRetries: true,
  closeTimeoutMs: true,
  heartbeatIntervalMs: true,
};

const PROCESS_LIMITS: OptionKeys<ProcessLimits> = {
  exitTimeoutMs: true,
  terminateTimeoutMs: true,
  killTimeoutMs: true,
  outputTimeoutMs: true,
  stderrTailCharacters: true,
  stderrLineCharacters: true,
};

export const LIST_THREADS: OptionKeys<Omit<v2.ThreadListParams, "cursor">> = {
  limit: true,
  excludedThreadIds: true,
  sortKey: true,
  sortDirection: true,
  modelProviders: true,
  sourceKinds: true,
  originators: true,
  archived: true,
  sectionId: true,
  projectId: true,
  cwd: true,
  useStateDbOnly: true,
  searchTerm: true,
  parentThreadId: true,
  ancestorThreadId: true,
  attachedToThreadId: true,
};

export const SEARCH_THREADS: OptionKeys<Omit<v2.ThreadSearchParams, "cursor" | "searchTerm">> = {
  limit: true,
  sortKey: true,
  sortDirection: true,
  sourceKinds: true,
  archived: true,
};

/** Rejects unknown options of `launch`, `connect` and `withTransport`, including nested ones. */
export function checkCodexOptions<
  Options extends CodexOptions & Pick<LaunchOptions, "auth" | "codexHome" | "outliveOwner" | "processLimits">,
>(what: string, options: Options, known: OptionKeys<Options>): void {
  rejectUnknownOptions(what, options, known);
  const { clientInfo, handlers, limits, outliveOwner, processLimits, reconcile } = options;
  if (outliveOwner) rejectUnknownOptions(`${what}: outliveOwner`, outliveOwner, OUTLIVE_OWNER);
  if (clientInfo) rejectUnknownOptions(`${what}: clientInfo`, clientInfo, CLIENT_INFO);
  if (handlers) rejectUnknownOptions(`${what}: handlers`, handlers, HANDLERS);
  checkSignal(what, options.signal);
  checkAuth(what, options);
  if (limits) {
    rejectUnknownOptions(`${what}: limits`, limits, LIMITS);
    checkLimits(`${what}: limits`, limits);
  }
  if (processLimits) {
    rejectUnknownOptions(`${what}: processLimits`, processLimits, PROCESS_LIMITS);
    checkLimits(`${what}: processLimits`, processLimits);
  }
  if (reconcile) rejectUnknownOptions(`${what}: reconcile`, reconcile, RECONCILE);
}
