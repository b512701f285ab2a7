import type { JsonValue, v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { McpToolDecision } from "./decisions.ts";
import { withReason, createApproval } from "./create-approval.ts";
import type { OpenRequest, ParseContext } from "./open-request.ts";

/** How long an approval is remembered. */
export type McpToolPersistence = "session" | "always";

/** Codex asks to call a tool of an MCP server. */
export interface McpToolApproval {
  readonly kind: "mcpTool";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string | null;
  readonly server: string;
  /** Name of the tool. Codex includes it only in `message`, so it may be missing. */
  readonly tool: string | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly arguments: JsonValue | undefined;
  /** Codex's question. */
  readonly message: string;
  /** How long the decision may be remembered: `acceptForSession`, `acceptAlways`. */
  readonly persist: readonly McpToolPersistence[];
  /** The request as received. `_meta` has all details of the tool. */
  readonly params: v2.McpServerElicitationRequestParams;
}

const metaSchema = z.looseObject({
  codex_approval_kind: z.literal("mcp_tool_call"),
  // Missing if the server's settings require approval of every call.
  persist: z.unknown().optional(),
  tool_title: z.string().optional().catch(undefined),
  tool_description: z.string().optional().catch(undefined),
  tool_params: z.custom<JsonValue>().optional(),
});

const decisionSchema = z.enum(["accept", "acceptForSession", "acceptAlways", "decline", "cancel"]);

/** Codex's own question has no form fields. */
const emptyFormSchema = z.strictObject({ type: z.literal("object"), properties: z.strictObject({}) });

/**
 * Matches Codex's question. The request contains the tool's name nowhere else, so this is the only text that is parsed.
 */
const QUESTION = /^Allow (?:the )?(?<server>[^]+?)(?: MCP server)? to run tool "(?<tool>[^"]+)"\?$/;

/** The built-in server of apps: Codex names the app in its question, not the server. */
const APPS_SERVER = "codex_apps";

/**
 * Reads Codex's question about a tool call: a form without fields, in Codex's wording for this server. Undefined for any other
 * elicitation. Codex forwards forms of MCP servers with any `_meta`, so a server can send the same form.
 */
export function readMcpToolQuestion(
  params: v2.McpServerElicitationRequestParams,
  requestId: RequestId,
): McpToolApproval | undefined {
  if (params.mode !== "form" || !emptyFormSchema.safeParse(params.requestedSchema).success) return undefined;
  const { threadId, turnId, serverName, message } = params;
  const { data: meta } = metaSchema.safeParse(params._meta);
  const { server, tool } = QUESTION.exec(message)?.groups ?? {};
  if (!meta || (server !== serverName && serverName !== APPS_SERVER)) return undefined;
  return {
    kind: "mcpTool",
    requestId,
    threadId,
    turnId,
    server: serverName,
    tool,
    title: meta.tool_title,
    description: meta.tool_description,
    arguments: meta.tool_params,
    message,
    persist: parsePersistence(meta.persist),
    params,
  };
}

/**
 * Reads an elicitation as Codex's own approval of a tool call. Undefined if it is a question from the server to the user: the
 * metadata proves nothing, so the question must match a running tool call that was not asked about before.
 *
 * One case can't be distinguished: while a call is running that needed no approval (it was remembered, or the settings
 * require none), a form of that server that copies the tool and arguments of the call looks like its approval. Accepting it
 * repeats what was already allowed, but the server may treat the answer as the user's consent.
 */
export function readMcpToolApproval(
  params: v2.McpServerElicitationRequestParams,
  { requestId, itemsOf, claimCall }: Pick<ParseContext, "requestId" | "itemsOf" | "claimCall">,
): McpToolApproval | undefined {
  const approval = readMcpToolQuestion(params, requestId);
  if (!approval) return undefined;
  const { threadId, server, tool, arguments: args } = approval;
  const waits = itemsOf(threadId).some(
    (item) =>
      item.type === "mcpToolCall" &&
      item.server === server &&
      item.status === "inProgress" &&
      item.tool === tool &&
      isDeepStrictEqual(item.arguments ?? {}, args ?? {}) &&
      claimCall(threadId, item.id),
  );
  return waits ? approval : undefined;
}

export function openMcpToolApproval(approval: McpToolApproval): OpenRequest {
  return createApproval({
    approval,
    handler: "mcpToolApproval",
    parse: (wanted, reason) => {
      const decision = limitToPersistence(decisionSchema.parse(wanted), approval.persist);
      return { response: toResponse(decision), decision, ...withReason(reason) };
    },
    refuse: (reason) => ({ response: toResponse("decline"), decision: "decline", reason }),
  });
}

/** A value or a list of values. Unknown values of later releases are ignored. */
function parsePersistence(persist: unknown): McpToolPersistence[] {
  const words: unknown[] = Array.isArray(persist) ? persist : [persist];
  return words.filter((word): word is McpToolPersistence => word === "session" || word === "always");
}

/** Replaces a decision that is not offered by the next weaker one, never by a stronger one. */
function limitToPersistence(
  decision: McpToolDecision,
  persist: readonly McpToolPersistence[],
): McpToolDecision {
  if (decision === "acceptAlways" && !persist.includes("always")) {
    return limitToPersistence("acceptForSession", persist);
  }
  return decision === "acceptForSession" && !persist.includes("session") ? "accept" : decision;
}

function toResponse(decision: McpToolDecision): v2.McpServerElicitationRequestResponse {
  if (decision === "decline" || decision === "cancel") {
    return { action: decision, content: null, _meta: null };
  }
  const persist = { accept: undefined, acceptForSession: "session", acceptAlways: "always" }[decision];
  return { action: "accept", content: null, _meta: persist === undefined ? null : { persist } };
}
