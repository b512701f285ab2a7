// The SDK: threads, turns, streaming, steering, approvals and tools over one long-lived Codex app-server.
import "./require-node.ts";

// The way in.
export { Codex, VERSION } from "./codex.ts";
export type { CodexOptions, ConnectOptions, EventsOptions, LaunchOptions } from "./codex-options.ts";
export type { OutliveOwner } from "./process/launch-keeper.ts";
export type { Packet } from "./connection/observe-transport.ts";
export { CodexError, type CodexErrorCode } from "./errors.ts";

// For packages that have options of their own: rejects misspelt ones with the nearest valid name.
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
export type { Agent } from "./routing/agent-tree.ts";
export type { ThreadGoal } from "./thread/goal.ts";
export type { ThreadHistory } from "./thread/history.ts";
export type { ThreadQueue } from "./thread/queue.ts";
export type { ThreadTerminals } from "./thread/terminals.ts";
export type { SteerOptions, Turn, TurnCallOptions } from "./turn/turn.ts";
export { type TokenUsage, TurnFailedError, type TurnResult } from "./events/turn-result.ts";
export type { ReconcileTimes } from "./routing/turn-reconciler.ts";

// What a turn is given, and what it gives back in a shape.
export type {
  AudioPart,
  ImagePart,
  Input,
  InputPart,
  Media,
  MentionPart,
  SkillPart,
  TextPart,
} from "./turn/input.ts";
export { type OutputSchema, outputSchema, type OutputSchemaInput } from "./schema/output-schema.ts";
export type {
  SchemaOutput,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "./schema/standard-schema.ts";

// Everything that happens, in one union.
export type {
  CodexEvent,
  DeltaKind,
  DiffUpdatedEvent,
  ItemCompletedEvent,
  ItemDeltaEvent,
  ItemStartedEvent,
  NoticeEvent,
  PlanUpdatedEvent,
  RawMessage,
  ThreadStartedEvent,
  TurnCompletedEvent,
  TurnEndEvent,
  TurnFailedEvent,
  TurnInterruptedEvent,
  TurnStartedEvent,
  UnknownEvent,
  UsageUpdatedEvent,
  WarningEvent,
  WarningKind,
} from "./events/event.ts";
export type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  QuestionRequestedEvent,
  QuestionResolvedEvent,
  RequestOutcome,
  RequestWarningEvent,
} from "./requests/request-events.ts";

// Answers to what the server asks.
export type { AnyApproval, AuthTokens, HandlerContext, ServerRequestHandlers } from "./requests/handlers.ts";
export {
  type AnyDecision,
  type ApprovalAnswer,
  type CommandDecision,
  type Decision,
  decisions,
  type FileChangeDecision,
  type McpToolDecision,
  type PermissionsDecision,
} from "./requests/decisions.ts";
export type { CommandApproval } from "./requests/command-approval.ts";
export type { FileChangeApproval } from "./requests/file-change-approval.ts";
export type { McpToolApproval } from "./requests/mcp-tool-approval.ts";
export type { PermissionsApproval } from "./requests/permissions-approval.ts";
export type { PermissionGrant } from "./requests/permission-grant.ts";
export type { ElicitationAnswer, ElicitationRequest } from "./requests/elicitation.ts";
export type { UserInputAnswers, UserInputRequest } from "./requests/user-input.ts";

// Approvals by a policy of `@codexkit/approvals`.
export { policyHandlers, type PolicyHandlersOptions } from "./requests/policy-handlers.ts";

// Tools of this program that the agent may call.
export {
  type AnyTool,
  defineTool,
  type ToolContext,
  toolNamespace,
  type ToolResult,
} from "./tools/define-tool.ts";

// The rest of the app-server, by topic.
export type { Topics } from "./topics/create-topics.ts";
export type { HttpMcpServer, McpServer, McpServers, StdioMcpServer } from "./topics/mcp-servers.ts";
export { type Credentials, discoverCredentials } from "./topics/discover-credentials.ts";
export type { ExecProcess } from "./topics/exec-process.ts";
export type { ExecOutput } from "./topics/exec-output.ts";
export type { ExecResult } from "./topics/exec.ts";
export type { ChangedPaths, FileWatch } from "./topics/file-watch.ts";
export type { ChatgptLogin, ChatgptTokens, DeviceCodeLogin } from "./topics/account.ts";
export type { RateLimits } from "./topics/rate-limits.ts";

// The wire's own types, for what the SDK passes through.
export type { ClientRequests, JsonValue, v1, v2 } from "@codexkit/protocol";
