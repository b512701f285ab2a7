import type { v2 } from "@codexkit/protocol";
import type { CallOptions, RpcLimits } from "@codexkit/rpc";
import type { CodexOptions, ConnectOptions, EventsOptions, LaunchOptions } from "../codex.ts";
import type { OutliveOwner } from "../process/launch-keeper.ts";
import type { ProcessLimits } from "../process/limits.ts";
import type { ServerRequestHandlers } from "../requests/handlers.ts";
import type { PolicyHandlersOptions } from "../requests/policy-handlers.ts";
import type { RunOptions } from "../thread/run-options.ts";
import type { ForkThreadOptions, ResumeThreadOptions, StartThreadOptions } from "../thread/thread-options.ts";
import type { ShellOptions, ThreadEventsOptions } from "../thread/thread.ts";
import type { SteerOptions, TurnCallOptions } from "../turn/turn.ts";
import type { ReconcileTimes } from "../turn/turn-reconciler.ts";
import type { OptionKeys } from "./reject-unknown-options.ts";

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

export const THREAD_EVENTS: OptionKeys<ThreadEventsOptions> = { agents: true };

export const OUTLIVE_OWNER: OptionKeys<OutliveOwner> = { graceMs: true };

export const CLIENT_INFO: OptionKeys<NonNullable<CodexOptions["clientInfo"]>> = {
  name: true,
  version: true,
  title: true,
};

export const LIMITS: OptionKeys<RpcLimits> = {
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

export const PROCESS_LIMIT_NAMES: OptionKeys<ProcessLimits> = {
  leaveMs: true,
  terminateMs: true,
  killMs: true,
  lastOutputMs: true,
  stderrTailCharacters: true,
  stderrLineCharacters: true,
};

export const RECONCILE: OptionKeys<ReconcileTimes> = { idleGraceMs: true, quietMs: true, checkEveryMs: true };

export const HANDLERS: OptionKeys<ServerRequestHandlers> = {
  commandApproval: true,
  fileChangeApproval: true,
  permissionsApproval: true,
  mcpToolApproval: true,
  approve: true,
  userInput: true,
  elicitation: true,
  toolCall: true,
  refreshAuthTokens: true,
  attestation: true,
  currentTime: true,
  execCommandApproval: true,
  applyPatchApproval: true,
};

const OWN_THREAD_OPTIONS = { tools: true, handlers: true, mcpServers: true } as const;

/** What start, resume and fork have in common. */
const THREAD_SETTINGS = {
  ...OWN_THREAD_OPTIONS,
  model: true,
  modelProvider: true,
  serviceTier: true,
  cwd: true,
  runtimeWorkspaceRoots: true,
  approvalPolicy: true,
  approvalsReviewer: true,
  sandbox: true,
  permissions: true,
  config: true,
  baseInstructions: true,
  developerInstructions: true,
} as const;

export const START_THREAD: OptionKeys<StartThreadOptions> = {
  ...THREAD_SETTINGS,
  allowProviderModelFallback: true,
  serviceName: true,
  personality: true,
  multiAgentMode: true,
  ephemeral: true,
  historyMode: true,
  sessionStartSource: true,
  threadSource: true,
  projectId: true,
  daybreakEnabled: true,
  environments: true,
  selectedCapabilityRoots: true,
  mockExperimentalField: true,
  experimentalRawEvents: true,
};

export const RESUME_THREAD: OptionKeys<ResumeThreadOptions> = { ...THREAD_SETTINGS, personality: true };

export const FORK_THREAD: OptionKeys<ForkThreadOptions> = {
  ...THREAD_SETTINGS,
  experimentalPredictionMode: true,
  experimentalDisablePredictionMcp: true,
  lastTurnId: true,
  beforeTurnId: true,
  ephemeral: true,
  attachToSource: true,
  threadSource: true,
  deferGoalContinuation: true,
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

export const UPDATE_SETTINGS: OptionKeys<Omit<v2.ThreadSettingsUpdateParams, "threadId">> = {
  disabledPluginIds: true,
  cwd: true,
  approvalPolicy: true,
  approvalsReviewer: true,
  sandboxPolicy: true,
  permissions: true,
  model: true,
  serviceTier: true,
  effort: true,
  summary: true,
  collaborationMode: true,
  multiAgentMode: true,
  personality: true,
};

export const LIST_TURNS: OptionKeys<Omit<v2.ThreadTurnsListParams, "threadId" | "cursor">> = {
  limit: true,
  sortDirection: true,
  itemsView: true,
};

export const LIST_ITEMS: OptionKeys<Omit<v2.ThreadItemsListParams, "threadId" | "cursor">> = {
  turnId: true,
  limit: true,
  sortDirection: true,
};

export const POLICY_HANDLERS: OptionKeys<PolicyHandlersOptions> = {
  ask: true,
  timeoutMs: true,
  cwd: true,
  onDecision: true,
  onRemember: true,
};

export const CALL: OptionKeys<CallOptions> = { signal: true, timeoutMs: true };

export const TURN_CALL: OptionKeys<TurnCallOptions> = { signal: true, timeoutMs: true };

export const STEER: OptionKeys<SteerOptions> = { ...TURN_CALL, clientUserMessageId: true };

export const SHELL: OptionKeys<ShellOptions> = { signal: true, timeoutMs: true };

export const RUN: OptionKeys<RunOptions<unknown>> = {
  outputSchema: true,
  signal: true,
  whenBusy: true,
  disabledPluginIds: true,
  clientUserMessageId: true,
  turnTrigger: true,
  parentTurnId: true,
  rootTurnId: true,
  toolOutput: true,
  responsesapiClientMetadata: true,
  responsesapiClientMetadataPatch: true,
  additionalContext: true,
  environments: true,
  cwd: true,
  runtimeWorkspaceRoots: true,
  approvalPolicy: true,
  approvalsReviewer: true,
  sandboxPolicy: true,
  permissions: true,
  model: true,
  serviceTier: true,
  serviceTierForTurn: true,
  effort: true,
  summary: true,
  personality: true,
  collaborationMode: true,
  multiAgentMode: true,
  cyberAccessProgram: true,
};
