import type { JsonValue, v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { z } from "zod";
import type { OpenRequest, ReadContext } from "./open-request.ts";

/** An MCP server asks the person: to fill in a form (`params.mode` "form") or to visit a page ("url"). */
export interface ElicitationRequest {
  readonly kind: "elicitation";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string | null;
  readonly server: string;
  readonly mode: v2.McpServerElicitationRequestParams["mode"];
  /** The request as it came, a union by `mode`: narrow it to reach the form's schema or the page's address. */
  readonly params: v2.McpServerElicitationRequestParams;
}

/** What the person did. A form that is accepted has its values in `content`. */
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

export function openElicitation(
  params: v2.McpServerElicitationRequestParams,
  { requestId }: ReadContext,
): OpenRequest {
  const { threadId, turnId, serverName: server, mode } = params;
  const request: ElicitationRequest = {
    kind: "elicitation",
    requestId,
    threadId,
    turnId,
    server,
    mode,
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
    read: (value) => {
      const response = answerSchema.parse(value);
      if (response.action === "accept" && params.mode === "form") {
        formSchema(params.requestedSchema)?.parse(response.content);
      }
      return { response };
    },
    refuse: (reason) => ({ response: { action: "decline", content: null, _meta: null }, reason }),
  };
}

/** Codex passes a form on unread: an answer that does not fit is better stopped here than at the MCP server. */
function formSchema(schema: v2.McpElicitationSchema): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}
