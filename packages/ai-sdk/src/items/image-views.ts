import type { ItemOf, ToolView } from "./tool-view.ts";

/** An image that the agent viewed. */
export function imageViewView({ path }: ItemOf<"imageView">): ToolView {
  return { toolName: "codex_view_image", input: { path }, result: { path } };
}

/** An image that the agent generated. It is also emitted as a file part. */
export function imageGenerationView(item: ItemOf<"imageGeneration">): ToolView {
  const { status, revisedPrompt, savedPath, failure } = item;
  const data = "result" in item ? item.result : "";
  const mediaType = imageType(data);
  return {
    toolName: "codex_image_generation",
    input: { prompt: revisedPrompt },
    isKnown: revisedPrompt !== null || status === "completed",
    result: { status, ...(savedPath !== undefined && { path: savedPath }) },
    isError: failure !== null && failure !== undefined,
    yields: data === "" ? [] : [{ type: "file", mediaType, data: { type: "data", data } }],
  };
}

/** Base64 prefix of each image type. The AI SDK's own detection would load many other modules at the first call. */
const SIGNATURES = { "/9j/": "image/jpeg", R0lGOD: "image/gif", UklGR: "image/webp" } as const;

function imageType(base64: string): string {
  return Object.entries(SIGNATURES).find(([start]) => base64.startsWith(start))?.[1] ?? "image/png";
}
