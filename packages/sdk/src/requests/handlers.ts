import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import type { OptionKeys } from "../options/reject-unknown-options.ts";
import type { CommandApproval } from "./command-approval.ts";
import type {
  AnyDecision,
  ApprovalAnswer,
  CommandDecision,
  FileChangeDecision,
  LegacyDecision,
  McpToolDecision,
  PermissionsDecision,
} from "./decisions.ts";
import type { ElicitationAnswer, McpElicitationRequest } from "./elicitation.ts";
import type { FileChangeApproval } from "./file-change-approval.ts";
import type { LegacyCommandApproval, LegacyPatchApproval } from "./legacy-approvals.ts";
import type { McpToolApproval } from "./mcp-tool-approval.ts";
import type { PermissionsApproval } from "./permissions-approval.ts";
import type { UserInputAnswers, UserInputRequest } from "./user-input.ts";

type Awaitable<T> = T | Promise<T>;

/** Second argument of every handler. */
export interface HandlerContext {
  /** Aborts when the answer is no longer needed: another client answered, or the turn or the connection ended. */
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
  readonly threadId: string | undefined;
  readonly turnId: string | undefined;
}

/** Any approval; see `kind`. */
export type AnyApproval =
  | CommandApproval
  | FileChangeApproval
  | PermissionsApproval
  | McpToolApproval
  | LegacyCommandApproval
  | LegacyPatchApproval;

/**
 * One handler per kind of server request. All are optional: an unhandled request is denied in the valid shape for its
 * kind, and an event reports it. Handlers run concurrently; a slow one does not delay the others.
 */
export interface ServerRequestHandlers {
  /** A command outside the sandbox, input for a running one, or a connection to a host. */
  readonly commandApproval?: (
    approval: CommandApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<CommandDecision>>;
  /** A patch outside the writable folders. */
  readonly fileChangeApproval?: (
    approval: FileChangeApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<FileChangeDecision>>;
  /** Additional permissions for this turn or session. They may be granted in part. */
  readonly permissionsApproval?: (
    approval: PermissionsApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<PermissionsDecision>>;
  /** A call to a tool of an MCP server. On the wire it is an elicitation. */
  readonly mcpToolApproval?: (
    approval: McpToolApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<McpToolDecision>>;
  /** Handles all kinds of approvals that have no specific handler; used by policies. */
  readonly approve?: (
    approval: AnyApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<AnyDecision>>;

  /** Questions from the model to the user. */
  readonly userInput?: (request: UserInputRequest, context: HandlerContext) => Awaitable<UserInputAnswers>;
  /** A form or a page to visit, from an MCP server. */
  readonly elicitation?: (
    request: McpElicitationRequest,
    context: HandlerContext,
  ) => Awaitable<ElicitationAnswer>;

  /** A call to a dynamic tool. `ToolHost` provides the handler. */
  readonly toolCall?: (
    call: v2.DynamicToolCallParams,
    context: HandlerContext,
  ) => Awaitable<v2.DynamicToolCallResponse>;
  /** New ChatGPT tokens, when those given at login have expired. */
  readonly refreshAuthTokens?: (
    request: v2.ChatgptAuthTokensRefreshParams,
    context: HandlerContext,
  ) => Awaitable<AuthTokens>;
  /** An attestation token. Requested only from clients that announced `requestAttestation`. */
  readonly attestation?: (context: HandlerContext) => Awaitable<string>;
  /** The time, for a server that uses the client's clock. Default: the system time. */
  readonly currentTime?: (request: v2.CurrentTimeReadParams, context: HandlerContext) => Awaitable<Date>;

  /** Approval of a command in the first protocol. */
  readonly execCommandApproval?: (
    approval: LegacyCommandApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<LegacyDecision>>;
  /** Approval of a patch in the first protocol. */
  readonly applyPatchApproval?: (
    approval: LegacyPatchApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<LegacyDecision>>;
}

/** ChatGPT tokens, as accepted by a login with tokens. */
export interface AuthTokens {
  readonly accessToken: string;
  readonly chatgptAccountId: string;
  readonly chatgptPlanType?: string | null;
}

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
