import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ClientRequest } from "../requests/client-request.ts";
import { providerMetadata } from "../items/metadata.ts";
import { callParts, type ToolParts } from "./tool-parts.ts";

/** Converts a turn's request to its client: a tool call, or an approval, whose tool call must come first. */
export function requestParts(
  request: ClientRequest,
  tools: ToolParts,
  place: { readonly threadId: string; readonly turnId: string },
): LanguageModelV4StreamPart[] {
  if (request.kind === "tool") {
    const { id: toolCallId, toolName, input } = request;
    const metadata = { ...place, itemId: toolCallId };
    return callParts({ toolCallId, toolName, input, metadata, by: "client" });
  }
  const { id: approvalId, toolName, input, details } = request;
  const toolCallId = request.itemId ?? tools.findOpen(toolName, input) ?? approvalId;
  return [
    ...tools.call(toolCallId, toolName, input),
    {
      type: "tool-approval-request",
      approvalId,
      toolCallId,
      providerMetadata: providerMetadata({ ...place, ...details, approvalId }),
    },
  ];
}
