import type { JsonValue, v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { McpToolDecision } from "./decisions.ts";
import { because, openApproval } from "./open-approval.ts";
import type { OpenRequest, ReadContext } from "./open-request.ts";

/** How long an approval may be remembered. */
export type McpToolPersistence = "session" | "always";

/** Codex wants to call a tool of an MCP server. */
export interface McpToolApproval {
  readonly kind: "mcpTool";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string | null;
  readonly server: string;
  /** The tool's name. The server says it only inside `message`, so that it may be missing. */
  readonly tool: string | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly arguments: JsonValue | undefined;
  /** The question, as Codex words it. */
  readonly message: string;
  /** What may be remembered: `acceptForSession`, `acceptAlways`. */
  readonly persist: readonly McpToolPersistence[];
  /** The request as it came; `_meta` has all that the server says about the tool. */
  readonly params: v2.McpServerElicitationRequestParams;
}

const metaSchema = z.looseObject({
  codex_approval_kind: z.literal("mcp_tool_call"),
  // Missing where the server's own settings have every call asked about.
  persist: z.unknown().optional(),
  tool_title: z.string().optional().catch(undefined),
  tool_description: z.string().optional().catch(undefined),
  tool_params: z.custom<JsonValue>().optional(),
});

const decisionSchema = z.enum(["accept", "acceptForSession", "acceptAlways", "decline", "cancel"]);

/** Codex's own question asks for no fields. */
const emptyFormSchema = z.strictObject({ type: z.literal("object"), properties: z.strictObject({}) });

/** The sentence that Codex puts the question in. */
const QUESTION = /^Allow (?:the )?(?<server>[^]+?)(?: MCP server)? to run tool "(?<tool>[^"]+)"\?$/;

/**
 * Whether an elicitation is Codex's own approval of a tool call. Codex forwards forms of MCP servers with whatever `_meta`
 * they choose, so the metadata proves nothing: the form must ask for no fields, be worded as Codex words it, and name a
 * call that waits. A form about anything else is a question of the server to the person.
 */
export function isMcpToolApproval(
  params: v2.McpServerElicitationRequestParams,
  { itemsOf }: Pick<ReadContext, "itemsOf">,
): boolean {
  if (params.mode !== "form" || !emptyFormSchema.safeParse(params.requestedSchema).success) return false;
  const meta = metaSchema.safeParse(params._meta);
  const tool = QUESTION.exec(params.message)?.groups?.["tool"];
  if (!meta.success || tool === undefined) return false;
  const calls = itemsOf(params.threadId).filter(
    (item) =>
      item.type === "mcpToolCall" && item.server === params.serverName && item.status === "inProgress",
  );
  // A client that attached in the middle of a turn has not seen the call begin.
  if (calls.length === 0) return true;
  return calls.some(
    (call) =>
      call.type === "mcpToolCall" &&
      call.tool === tool &&
      isDeepStrictEqual(call.arguments ?? {}, meta.data.tool_params ?? {}),
  );
}

export function openMcpToolApproval(
  params: v2.McpServerElicitationRequestParams,
  { requestId }: ReadContext,
): OpenRequest {
  const { threadId, turnId, _meta } = params;
  const meta = metaSchema.parse(_meta);
  const message = "message" in params ? params.message : "";
  const approval: McpToolApproval = {
    kind: "mcpTool",
    requestId,
    threadId,
    turnId,
    server: params.serverName,
    tool: QUESTION.exec(message)?.groups?.["tool"],
    title: meta.tool_title,
    description: meta.tool_description,
    arguments: meta.tool_params,
    message,
    persist: readPersistence(meta.persist),
    params,
  };
  return openApproval({
    approval,
    slot: "mcpToolApproval",
    read: (wanted, reason) => {
      const decision = withinPersistence(decisionSchema.parse(wanted), approval.persist);
      return { response: toResponse(decision), decision, ...because(reason) };
    },
    refuse: (reason) => ({ response: toResponse("decline"), decision: "decline", reason }),
  });
}

/** One word or a list of them; words of later releases are left out. */
function readPersistence(persist: unknown): McpToolPersistence[] {
  const words: unknown[] = Array.isArray(persist) ? persist : [persist];
  return words.filter((word): word is McpToolPersistence => word === "session" || word === "always");
}

/** What is not offered becomes the next weaker decision, never a stronger one. */
function withinPersistence(
  decision: McpToolDecision,
  persist: readonly McpToolPersistence[],
): McpToolDecision {
  if (decision === "acceptAlways" && !persist.includes("always")) {
    return withinPersistence("acceptForSession", persist);
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
