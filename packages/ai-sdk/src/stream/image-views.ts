import { detectMediaType } from "@ai-sdk/provider-utils";
import type { ItemOf } from "./item-of.ts";
import type { ToolView } from "./tool-view.ts";

/** A picture that the agent looked at. */
export function imageViewView({ path }: ItemOf<"imageView">): ToolView {
  return { toolName: "codex_view_image", input: { path }, result: { path } };
}

/** A picture that the agent made, which is also a file of the answer. */
export function imageGenerationView(item: ItemOf<"imageGeneration">): ToolView {
  const { status, revisedPrompt, savedPath, failure } = item;
  const data = "result" in item ? item.result : "";
  const mediaType = detectMediaType({ data, topLevelType: "image" }) ?? "image/png";
  return {
    toolName: "codex_image_generation",
    input: { prompt: revisedPrompt },
    isKnown: revisedPrompt !== null || status === "completed",
    result: { status, ...(savedPath !== undefined && { path: savedPath }) },
    isError: failure !== null && failure !== undefined,
    yields: data === "" ? [] : [{ type: "file", mediaType, data: { type: "data", data } }],
  };
}
