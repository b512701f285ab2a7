// The typed client of the daemon, for Node and browsers. It does not import Node modules.

// The client and its streams.
export {
  type DaemonCallOptions,
  type CommandOptions,
  DaemonClient,
  type DaemonClientOptions,
  type ImportedSession,
  type Operation,
  type OperationArguments,
  type OperationResponse,
} from "./client.ts";
export { SummaryStream, type SummaryStreamOptions } from "./summary-stream.ts";
export {
  type FileContents,
  type FileInfo,
  type ReadOptions,
  SessionFiles,
  type WriteOptions,
  type WrittenFile,
} from "./session-files.ts";
export { CliThreads, type SessionOfThread } from "./cli-threads.ts";
export {
  type AttachTerminalOptions,
  TerminalConnection,
  type TerminalHandlers,
} from "./terminal-connection.ts";
export type { ReconnectOptions } from "./message-stream.ts";
export { DaemonClientError } from "./errors.ts";

// For receivers of webhooks and tool calls.
export {
  type ReceivedWebhook,
  type VerifiedWebhook,
  verifyWebhook,
  type VerifyWebhookOptions,
  WebhookVerificationError,
} from "./verify-webhook.ts";
export type { Webhook, WebhookDelivery, WebhookEventType, WebhookMessage } from "../api/webhook.ts";
export type { WebhookTool, WebhookToolCall } from "../api/webhook-tool.ts";

// For displays of sessions and requests: modes of the agent, the script of a command, the content of an item, forms of MCP servers.
export {
  CHAT_INSTRUCTIONS,
  permissionsOf,
  type ThreadPermissions,
  toCollaborationMode,
} from "../api/agent-mode.ts";
export { type ShellScript, splitShell } from "@codexkit/approvals/shell";
export { longestText, textAt } from "../api/item-text.ts";
export {
  checkField,
  type FormChoice,
  type FormField,
  type FormValue,
  readFormFields,
  toContent,
} from "./form-fields.ts";

// Types of requests and responses.
export type { DecisionScope } from "@codexkit/approvals";
export type { InboxAnswer, ApprovalOffer, InboxRequest, PolicyVerdict } from "../api/approval.ts";
export { type AnyRequest, toInboxRequest } from "../api/to-inbox-request.ts";
export type { CommandBody, CommandKind } from "../api/command.ts";
export type { DaemonEvent, SessionEvent } from "../api/event.ts";
export type { WatchedFileChange, FileMatch, FolderEntry, FolderPage, UploadedImage } from "../api/file.ts";
export type { Item, TurnSummary } from "../api/history.ts";
export type { Approval } from "../api/inbox.ts";
export type { Problem, ProblemType } from "../api/problem.ts";
export type { Scope } from "../api/route.ts";
export type { Command, Session } from "../api/session.ts";
export type { TerminalFrame, TerminalMessage, TerminalSummary } from "../api/terminal.ts";
export type { Node, Tenant, TenantLimits } from "../api/fleet.ts";
export type { CreateSession, OnInterrupted, SessionSettings } from "../api/settings.ts";
export type { StreamFrame } from "../api/stream.ts";
export type {
  CliThread,
  CliThreadDetails,
  CliThreadItem,
  CliThreadItemPage,
  CliThreadPage,
  ThreadEvent,
  ThreadFrame,
  ThreadSource,
} from "../api/thread.ts";
