import type { JSONValue } from "@ai-sdk/provider";
import type { ItemOf } from "./item-of.ts";
import type { ToolView } from "./tool-view.ts";

/** A tool that the provider itself runs. */
export function dynamicToolView(item: ItemOf<"dynamicToolCall">): ToolView {
  const { tool, status, success, contentItems } = item;
  return {
    toolName: tool,
    input: item.arguments ?? {},
    result: { status, content: (contentItems ?? []) as unknown as JSONValue[] },
    isError: success === false,
  };
}
