import type { v1, v2 } from "@codexkit/protocol";
import type { RpcLimits } from "@codexkit/rpc";
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

/** What is the same for a server of ours and one of others. */
export interface CodexOptions {
  /** Who this program is; Codex names it in its user agent and its logs. */
  readonly clientInfo?: { readonly name: string; readonly version: string; readonly title?: string };
  /** Whether to use what Codex marks as experimental: tools, queues, search and more. Default true. */
  readonly experimentalApi?: boolean;
  /** Notifications, by their exact names, that the server need not send. */
  readonly optOutNotifications?: readonly string[];
  /**
   * Called with every notification as the server sent it, from the first one on. Configuration warnings come with the
   * handshake, before there is a `Codex` to call `on` of.
   */
  readonly onNotification?: (message: RawMessage) => void;
  /** MCP extensions that this program supports, such as `openai/form`. */
  readonly extensions?: NonNullable<v1.InitializeCapabilities["extensions"]>;
  /** Answers to what the server asks, for threads without answers of their own. What nobody answers is denied. */
  readonly handlers?: ServerRequestHandlers;
  /** How long an approval or a question may wait for its handler before it is denied. Default: as long as its turn. */
  readonly approvalTimeoutMs?: number;
  /** The oldest Codex to work with. Default: the release that the types are of. */
  readonly minimumVersion?: string;
  /** Gives up launching or connecting. Once there is a `Codex`, close it instead. */
  readonly signal?: AbortSignal;
  /** How long the server may take to answer the handshake. Default 20 s. */
  readonly handshakeTimeoutMs?: number;
  /** The bounds of the connection: calls in flight, bytes, timeouts. */
  readonly limits?: Partial<RpcLimits>;
  /** When turns that the server went silent about are asked after. */
  readonly reconcile?: ReconcileTimes;
  /** Receives every message to and from the server. They hold prompts and credentials: log them with care. */
  readonly onPacket?: (packet: Packet) => void;
}

/** How a server of ours is found, set up and started. */
export interface LaunchOptions extends CodexOptions, Omit<LaunchAppServerOptions, "limits" | "signal"> {
  /** How long the child may take at each step of its end. */
  readonly processLimits?: LaunchAppServerOptions["limits"];
  /**
   * Keeps the server alive when this program dies, also by `kill -9`, for a successor to attach to with
   * `Codex.connect(codex.url)`. It ends when no client is connected for `graceMs`. It listens on a unix socket: in a private
   * folder, or where `listen` says. `close()` ends it at once; `detach()` leaves it to its grace period.
   */
  readonly outliveOwner?: OutliveOwner;
}

/** How a running server is reached. */
export interface ConnectOptions extends CodexOptions {
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs?: number;
  /** Whether the server shares this machine's files, so that paths can be checked here. Default: unix sockets do. */
  readonly local?: boolean;
}

export interface EventsOptions {
  /**
   * Gives every event as it came, however slow the reader. Codex has to wait while it is behind, and so do all calls: don't
   * await a call inside the loop. A server behind a WebSocket disconnects a client that is 32,768 messages behind.
   */
  readonly lossless?: boolean;
}

// The names of all options, as values: types are gone when a program runs.

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
  config: true,
  configOverrides: true,
  enable: true,
  disable: true,
  strictConfig: true,
  args: true,
};

export const CONNECT: OptionKeys<ConnectOptions> = {
  ...CODEX,
  token: true,
  headers: true,
  connectTimeoutMs: true,
  local: true,
};

export const EVENTS: OptionKeys<EventsOptions> = { lossless: true };

const OUTLIVE_OWNER: OptionKeys<OutliveOwner> = { graceMs: true };

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
  heartbeatMs: true,
};

const PROCESS_LIMIT_NAMES: OptionKeys<ProcessLimits> = {
  leaveMs: true,
  terminateMs: true,
  killMs: true,
  lastOutputMs: true,
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

/** Rejects misspelt options of `launch` and `connect`, also inside their objects. */
export function checkCodexOptions<
  Options extends CodexOptions & Pick<LaunchOptions, "outliveOwner" | "processLimits">,
>(what: string, options: Options, known: OptionKeys<Options>): void {
  rejectUnknownOptions(what, options, known);
  const { clientInfo, handlers, limits, outliveOwner, processLimits, reconcile } = options;
  if (outliveOwner) rejectUnknownOptions(`${what}: outliveOwner`, outliveOwner, OUTLIVE_OWNER);
  if (clientInfo) rejectUnknownOptions(`${what}: clientInfo`, clientInfo, CLIENT_INFO);
  if (handlers) rejectUnknownOptions(`${what}: handlers`, handlers, HANDLERS);
  checkSignal(what, options.signal);
  if (limits) {
    rejectUnknownOptions(`${what}: limits`, limits, LIMITS);
    checkLimits(`${what}: limits`, limits);
  }
  if (processLimits) {
    rejectUnknownOptions(`${what}: processLimits`, processLimits, PROCESS_LIMIT_NAMES);
    checkLimits(`${what}: processLimits`, processLimits);
  }
  if (reconcile) rejectUnknownOptions(`${what}: reconcile`, reconcile, RECONCILE);
}
