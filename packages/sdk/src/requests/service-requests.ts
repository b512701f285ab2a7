import type { v2 } from "@codexkit/protocol";
import { RequestFailure, RPC_CODES } from "@codexkit/rpc";
import { z } from "zod";
import type { Answer, OpenRequest, ParseContext } from "./open-request.ts";

// Requests to the client program. No user sees them.

const contentSchema: z.ZodType<v2.DynamicToolCallOutputContentItem> = z.union([
  z.object({ type: z.literal("inputText"), text: z.string() }),
  z.object({ type: z.literal("inputImage"), imageUrl: z.string() }),
  z.object({ type: z.literal("inputAudio"), audioUrl: z.string() }),
]);
const toolResponseSchema = z.object({ success: z.boolean(), contentItems: z.array(contentSchema) });

/** A call to a dynamic tool. Tools have their own timeouts. */
export function parseToolCall(params: v2.DynamicToolCallParams): OpenRequest {
  const { threadId, turnId } = params;
  return {
    threadId,
    turnId,
    timed: false,
    asks: (handlers) => [handlers.toolCall && ((context) => handlers.toolCall?.(params, context))],
    parse: (value) => ({ response: toolResponseSchema.parse(value) }),
    refuse: (reason) => ({
      response: { success: false, contentItems: [{ type: "inputText", text: `The tool failed: ${reason}` }] },
      reason,
    }),
  };
}

const tokensSchema = z.object({
  accessToken: z.string().min(1),
  chatgptAccountId: z.string().min(1),
  chatgptPlanType: z.string().nullable().default(null),
});

/** A refresh of the ChatGPT tokens. Only an error can deny it. */
export function parseAuthTokensRefresh(params: v2.ChatgptAuthTokensRefreshParams): OpenRequest {
  return {
    timed: true,
    asks: (handlers) => [
      handlers.refreshAuthTokens && ((context) => handlers.refreshAuthTokens?.(params, context)),
    ],
    parse: (value) => ({ response: tokensSchema.parse(value) }),
    refuse: (reason) => fail(`This client can't refresh the ChatGPT tokens: ${reason}`),
  };
}

export function parseAttestation(): OpenRequest {
  return {
    timed: true,
    asks: (handlers) => [handlers.attestation && ((context) => handlers.attestation?.(context))],
    parse: (value) => ({ response: { token: z.string().min(1).parse(value) } }),
    refuse: (reason) => fail(`This client can't attest: ${reason}`),
  };
}

/** A request for the current time. A denial returns the system time: it is harmless, and the turn fails without an answer. */
export function parseCurrentTime(params: v2.CurrentTimeReadParams, { now }: ParseContext): OpenRequest {
  const realTime = (): Answer => ({ response: { currentTimeAt: Math.floor(now() / 1000) } });
  return {
    threadId: params.threadId,
    timed: true,
    asks: (handlers) => [handlers.currentTime && ((context) => handlers.currentTime?.(params, context))],
    parse: (value) => ({ response: { currentTimeAt: Math.floor(z.date().parse(value).getTime() / 1000) } }),
    refuse: (reason) => ({ ...realTime(), reason }),
    unattended: realTime,
  };
}

function fail(message: string): never {
  throw new RequestFailure(RPC_CODES.internalError, message);
}
