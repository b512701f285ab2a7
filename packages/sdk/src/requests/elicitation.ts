import type { JsonValue, v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { z } from "zod";
import { type McpToolApproval, readMcpToolQuestion } from "./mcp-tool-approval.ts";
import type { OpenRequest, ParseContext } from "./open-request.ts";

/** A question from an MCP server to the user: a form (`params.mode` is "form") or a page to visit ("url"). */
export interface McpElicitationRequest {
  readonly kind: "elicitation";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string | null;
  readonly server: string;
  readonly mode: v2.McpServerElicitationRequestParams["mode"];
  /**
   * The approval that Codex asks for, if the form is its own question about a tool call. The form reads like one, but this
   * connection has not seen such a call start: it was opened later, or the MCP server itself sent the form.
   */
  readonly possibleApproval: McpToolApproval | undefined;
  /** The request as received. Narrow it by `mode` to access the form's schema or the page's URL. */
  readonly params: v2.McpServerElicitationRequestParams;
}

/** The user's response. An accepted form has its values in `content`. */
export type ElicitationAnswer =
  | "decline"
  | "cancel"
  | {
      readonly action: v2.McpServerElicitationAction;
      readonly content?: JsonValue;
      readonly _meta?: JsonValue;
    };

const json = z.custom<JsonValue>().optional();
const answerSchema = z.union([
  z.enum(["decline", "cancel"]).transform((action) => ({ action, content: null, _meta: null })),
  z
    .object({ action: z.enum(["accept", "decline", "cancel"]), content: json, _meta: json })
    .transform(({ action, content, _meta }) => ({
      action,
      content: action === "accept" ? (content ?? null) : null,
      _meta: _meta ?? null,
    })),
]);

export function parseElicitation(
  params: v2.McpServerElicitationRequestParams,
  { requestId }: ParseContext,
): OpenRequest {
  const { threadId, turnId, serverName: server, mode } = params;
  const request: McpElicitationRequest = {
    kind: "elicitation",
    requestId,
    threadId,
    turnId,
    server,
    mode,
    possibleApproval: readMcpToolQuestion(params, requestId),
    params,
  };
  return {
    threadId,
    turnId,
    timed: true,
    requested: {
      type: "question.requested",
      threadId,
      turnId,
      requestId,
      kind: "elicitation",
      request: params,
    },
    asks: (handlers) => [handlers.elicitation && ((context) => handlers.elicitation?.(request, context))],
    parse: (value) => {
      const response = answerSchema.parse(value);
      if (response.action === "accept" && params.mode === "form") {
        formSchema(params.requestedSchema)?.parse(response.content);
      }
      return { response };
    },
    refuse: (reason) => ({ response: { action: "decline", content: null, _meta: null }, reason }),
  };
}

/** Codex does not validate forms: an invalid answer is better rejected here than by the MCP server. */
function formSchema(schema: v2.McpElicitationSchema): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}
