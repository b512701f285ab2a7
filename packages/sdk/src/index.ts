// The SDK: threads, turns, streaming, steering, approvals and tools over one long-lived Codex app-server.
import "./require-node.ts";

// Entry point.
export { Codex, VERSION } from "./codex.ts";
/** The release of Codex that the types were generated from, which is also the oldest that is accepted by default. */
export { CODEX_VERSION } from "@codexkit/protocol";
export type {
  CodexOptions,
  ConnectOptions,
  EventsOptions,
  LaunchOptions,
  TransportOptions,
} from "./codex-options.ts";
export type { LaunchAppServerOptions } from "./process/launch-app-server.ts";
export type { OutliveOwner, OutlivingAddress } from "./process/launch-keeper.ts";
export type { ProcessLimits } from "./process/limits.ts";
export type { Packet } from "./connection/observe-transport.ts";
export { CodexError, type CodexErrorCode } from "./errors.ts";

// The connection: options and limits of calls, transports for `Codex.withTransport`, and the errors found in `cause`.
export {
  type CallOptions,
  type ParamsArgument,
  RemoteError,
  type RequestId,
  RpcError,
  type RpcErrorCode,
  type RpcLimits,
  type Transport,
  type TransportReceiver,
} from "@codexkit/rpc";

// For packages with their own options: rejects unknown ones with the nearest valid name.
export { LAUNCH as LAUNCH_OPTIONS } from "./codex-options.ts";
export { type OptionKeys, rejectUnknownOptions } from "./options/reject-unknown-options.ts";

// Threads and turns.
export type { Thread } from "./thread/thread.ts";
export type {
  ForkThreadOptions,
  ResumeThreadOptions,
  ShellOptions,
  StartThreadOptions,
  ThreadEventsOptions,
  ThreadHandlers,
  ThreadSettings,
} from "./thread/thread-options.ts";
export type { RunOptions, WhenBusy } from "./thread/run-options.ts";
export type { ThreadMethod, ThreadParams } from "./thread/thread-caller.ts";
export type { Agent } from "./routing/agent-tree.ts";
export type { ThreadGoal } from "./thread/goal.ts";
export type { ThreadHistory } from "./thread/history.ts";
export type { ThreadQueue } from "./thread/queue.ts";
export type { ThreadTerminals } from "./thread/terminals.ts";
export type { SteerOptions, Turn, TurnCallOptions } from "./turn/turn.ts";
export { type TokenUsage, TurnFailedError, type TurnResult } from "./events/turn-result.ts";
export type { ReconcileTimes } from "./routing/turn-reconciler.ts";

// Input of a turn, and structured output.
export {
  type AudioPart,
  type ImagePart,
  type Input,
  type InputPart,
  type Media,
  type MentionPart,
  type SkillPart,
  textElements,
  type TextPart,
} from "./turn/input.ts";
export type { JsonSchema } from "./schema/json-schema.ts";
export type { OutputSchema, OutputSchemaInput } from "./schema/json-output-schema.ts";
export { outputSchema } from "./schema/output-schema.ts";
export type {
  SchemaOutput,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "./schema/standard-schema.ts";

// Events.
export {
  type CodexEvent,
  type DeltaKind,
  type DiffUpdatedEvent,
  isTurnEnd,
  type ItemCompletedEvent,
  type ItemDeltaEvent,
  type ItemStartedEvent,
  type NoticeEvent,
  type PlanUpdatedEvent,
  type RawMessage,
  type ThreadStartedEvent,
  type TurnCompletedEvent,
  type TurnEndEvent,
  type TurnFailedEvent,
  type TurnInterruptedEvent,
  type TurnStartedEvent,
  type UnknownEvent,
  type UsageUpdatedEvent,
  type WarningEvent,
  type WarningKind,
} from "./events/event.ts";
export type {
  AnyResponse,
  ApprovalKind,
  ApprovalParams,
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  QuestionKind,
  QuestionParams,
  QuestionRequestedEvent,
  QuestionResolvedEvent,
  RequestEvent,
  RequestOutcome,
  RequestWarningEvent,
} from "./requests/request-events.ts";

// Handlers of server requests.
export type { AnyApproval, AuthTokens, HandlerContext, ServerRequestHandlers } from "./requests/handlers.ts";
export {
  type AnyDecision,
  type ApprovalAnswer,
  type ApprovalDecision,
  type CommandDecision,
  decisions,
  type FileChangeDecision,
  type LegacyDecision,
  type McpToolDecision,
  type PermissionsDecision,
} from "./requests/decisions.ts";
export type { CommandApproval } from "./requests/command-approval.ts";
export type { FileChangeApproval } from "./requests/file-change-approval.ts";
export type { LegacyCommandApproval, LegacyPatchApproval } from "./requests/legacy-approvals.ts";
export type { McpToolApproval, McpToolPersistence } from "./requests/mcp-tool-approval.ts";
export type { PermissionsApproval } from "./requests/permissions-approval.ts";
export type { PermissionGrant } from "./requests/permission-grant.ts";
export type { ElicitationAnswer, McpElicitationRequest } from "./requests/elicitation.ts";
export type { UserInputAnswers, UserInputRequest } from "./requests/user-input.ts";

// Approvals by a policy of `@codexkit/approvals`.
export { policyHandlers, type PolicyHandlersOptions } from "./requests/policy-handlers.ts";

// Tools that the agent may call.
export {
  type AnyTool,
  defineTool,
  type ToolContext,
  type ToolDefinition,
  toolNamespace,
  type ToolResult,
} from "./tools/define-tool.ts";

// Other features of the app-server, by topic.
export type { Topics } from "./topics/create-topics.ts";
export type { HttpMcpServer, McpServer, McpServers, StdioMcpServer } from "./topics/mcp-servers.ts";
export { type Credentials, discoverCredentials } from "./topics/discover-credentials.ts";
export type { ExecProcess } from "./topics/exec-process.ts";
export type { ExecOutput } from "./topics/exec-output.ts";
export type { ExecResult } from "./topics/exec.ts";
export type { ChangedPaths, FileWatch } from "./topics/file-watch.ts";
export type { CodexAuth } from "./codex-auth.ts";
export type { ChatgptLogin, ChatgptTokens, DeviceCodeLogin } from "./topics/account.ts";
export type { RateLimits } from "./topics/rate-limits.ts";

// Types of the protocol that appear in the API.
export type { ClientRequests, JsonValue, ServerNotifications, v1, v2 } from "@codexkit/protocol";
