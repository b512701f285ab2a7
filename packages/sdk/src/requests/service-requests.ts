import type { v2 } from "@codexkit/protocol";
import { RequestFailure, RPC_CODES } from "@codexkit/rpc";
import { z } from "zod";
import type { Answer, OpenRequest, ReadContext } from "./open-request.ts";

// What the server asks of the client as a program: no person sees these.

const contentSchema: z.ZodType<v2.DynamicToolCallOutputContentItem> = z.union([
  z.object({ type: z.literal("inputText"), text: z.string() }),
  z.object({ type: z.literal("inputImage"), imageUrl: z.string() }),
  z.object({ type: z.literal("inputAudio"), audioUrl: z.string() }),
]);
const toolResponseSchema = z.object({ success: z.boolean(), contentItems: z.array(contentSchema) });

/** A dynamic tool's call. It has limits of its own, so that no other holds. */
export function openToolCall(params: v2.DynamicToolCallParams): OpenRequest {
  const { threadId, turnId } = params;
  return {
    threadId,
    turnId,
    timed: false,
    asks: (handlers) => [handlers.toolCall && ((context) => handlers.toolCall?.(params, context))],
    read: (value) => ({ response: toolResponseSchema.parse(value) }),
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

/** New ChatGPT tokens. There are no tokens that mean "no": only an error does. */
export function openAuthTokensRefresh(params: v2.ChatgptAuthTokensRefreshParams): OpenRequest {
  return {
    timed: true,
    asks: (handlers) => [
      handlers.refreshAuthTokens && ((context) => handlers.refreshAuthTokens?.(params, context)),
    ],
    read: (value) => ({ response: tokensSchema.parse(value) }),
    refuse: (reason) => fail(`This client can't refresh the ChatGPT tokens: ${reason}`),
  };
}

/** An attestation token. */
export function openAttestation(): OpenRequest {
  return {
    timed: true,
    asks: (handlers) => [handlers.attestation && ((context) => handlers.attestation?.(context))],
    read: (value) => ({ response: { token: z.string().min(1).parse(value) } }),
    refuse: (reason) => fail(`This client can't attest: ${reason}`),
  };
}

/** The time. Without an answer the turn fails, and the real time harms nobody: it is what a refusal says too. */
export function openCurrentTime(params: v2.CurrentTimeReadParams, { now }: ReadContext): OpenRequest {
  const realTime = (): Answer => ({ response: { currentTimeAt: Math.floor(now() / 1000) } });
  return {
    threadId: params.threadId,
    timed: true,
    asks: (handlers) => [handlers.currentTime && ((context) => handlers.currentTime?.(params, context))],
    read: (value) => ({ response: { currentTimeAt: Math.floor(z.date().parse(value).getTime() / 1000) } }),
    refuse: (reason) => ({ ...realTime(), reason }),
    unattended: realTime,
  };
}

function fail(message: string): never {
  throw new RequestFailure(RPC_CODES.internalError, message);
}
