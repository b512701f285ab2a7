import type { JSONValue, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { v2 } from "codexkit";
import { imageGenerationView, imageViewView } from "./image-views.ts";
import { mcpView } from "./mcp-view.ts";
import { webSearchView } from "./web-search-view.ts";
import { agentView, commandView, dynamicToolView, patchView } from "./work-views.ts";

/** A Codex item of the given type. */
export type ItemOf<Type extends v2.ThreadItem["type"]> = Extract<v2.ThreadItem, { readonly type: Type }>;

/** An item of Codex's own work, viewed as a provider-executed tool call. */
export interface ToolView {
  readonly toolName: string;
  readonly input: JSONValue;
  /** The result so far. */
  readonly result: NonNullable<JSONValue>;
  readonly isError?: boolean;
  /** False for an item that starts without its input. Its call is emitted when it ends. */
  readonly isKnown?: boolean;
  /** Other parts that it produces, such as sources and files. */
  readonly yields?: readonly LanguageModelV4StreamPart[];
}

/** Converts an item to a tool call. Undefined for items that are not Codex's work. */
export function toolView(item: v2.ThreadItem): ToolView | undefined {
  switch (item.type) {
    case "commandExecution":
      return commandView(item);
    case "fileChange":
      return patchView(item);
    case "mcpToolCall":
      return mcpView(item);
    case "webSearch":
      return webSearchView(item);
    case "imageView":
      return imageViewView(item);
    case "imageGeneration":
      return imageGenerationView(item);
    case "collabAgentToolCall":
      return agentView(item);
    case "dynamicToolCall":
      return dynamicToolView(item);
    case "sleep":
      return {
        toolName: "codex_sleep",
        input: { durationMs: item.durationMs },
        result: { durationMs: item.durationMs },
      };
    default:
      return undefined;
  }
}
