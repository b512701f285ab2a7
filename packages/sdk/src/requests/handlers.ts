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
import type { ElicitationAnswer, ElicitationRequest } from "./elicitation.ts";
import type { FileChangeApproval } from "./file-change-approval.ts";
import type { LegacyCommandApproval, LegacyPatchApproval } from "./legacy-approvals.ts";
import type { McpToolApproval } from "./mcp-tool-approval.ts";
import type { PermissionsApproval } from "./permissions-approval.ts";
import type { UserInputAnswers, UserInputRequest } from "./user-input.ts";

type Awaitable<T> = T | Promise<T>;

/** What a handler gets beside the request. */
export interface HandlerContext {
  /** Fires when nobody waits for the answer any more: another client gave one, or the turn or the connection ended. */
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
  readonly threadId: string | undefined;
  readonly turnId: string | undefined;
}

/** Everything that may need an approval; `kind` tells which. */
export type AnyApproval =
  | CommandApproval
  | FileChangeApproval
  | PermissionsApproval
  | McpToolApproval
  | LegacyCommandApproval
  | LegacyPatchApproval;

/**
 * A slot for each of the server's requests. All are optional: what has no handler is denied, in the shape that is valid for
 * its kind, and an event says so. Handlers run side by side; a slow one holds up no other.
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
  /** More rights for this turn or session; a part of them may be granted. */
  readonly permissionsApproval?: (
    approval: PermissionsApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<PermissionsDecision>>;
  /** A call of an MCP server's tool. On the wire it is an elicitation; it is kept apart from those here. */
  readonly mcpToolApproval?: (
    approval: McpToolApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<McpToolDecision>>;
  /** Approvals of every kind that has no slot of its own here, as for a policy. */
  readonly approve?: (
    approval: AnyApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<AnyDecision>>;

  /** Questions of the model to the person. */
  readonly userInput?: (request: UserInputRequest, context: HandlerContext) => Awaitable<UserInputAnswers>;
  /** A form to fill in or a page to visit, for an MCP server. */
  readonly elicitation?: (
    request: ElicitationRequest,
    context: HandlerContext,
  ) => Awaitable<ElicitationAnswer>;

  /** A call of a dynamic tool; `ToolHost` has the handler for it. */
  readonly toolCall?: (
    call: v2.DynamicToolCallParams,
    context: HandlerContext,
  ) => Awaitable<v2.DynamicToolCallResponse>;
  /** New ChatGPT tokens, when the ones given at login are no longer good. */
  readonly refreshAuthTokens?: (
    request: v2.ChatgptAuthTokensRefreshParams,
    context: HandlerContext,
  ) => Awaitable<AuthTokens>;
  /** An attestation token; asked only of clients that announced `requestAttestation`. */
  readonly attestation?: (context: HandlerContext) => Awaitable<string>;
  /** The time, for a server whose clock is the client's. Without this slot it is the real time. */
  readonly currentTime?: (request: v2.CurrentTimeReadParams, context: HandlerContext) => Awaitable<Date>;

  /** The old protocol's approval of a command. */
  readonly execCommandApproval?: (
    approval: LegacyCommandApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<LegacyDecision>>;
  /** The old protocol's approval of a patch. */
  readonly applyPatchApproval?: (
    approval: LegacyPatchApproval,
    context: HandlerContext,
  ) => Awaitable<ApprovalAnswer<LegacyDecision>>;
}

/** ChatGPT tokens, as a login with tokens takes them. */
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
