import type { JSONValue, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { v2 } from "codexkit";
import { dynamicToolView } from "./dynamic-tool-view.ts";
import { agentView } from "./agent-view.ts";
import { commandView } from "./command-view.ts";
import { imageGenerationView, imageViewView } from "./image-views.ts";
import { mcpView } from "./mcp-view.ts";
import { patchView } from "./patch-view.ts";
import { webSearchView } from "./web-search-view.ts";

/** An item of Codex's own work, shown as the call of a tool that the provider runs. */
export interface ToolView {
  readonly toolName: string;
  readonly input: JSONValue;
  /** What the item has come to, as far as it has. */
  readonly result: NonNullable<JSONValue>;
  readonly isError?: boolean;
  /** False for an item that starts without saying what it is about: its call is shown when it ends. */
  readonly isKnown?: boolean;
  /** What else came out of it: sources, files. */
  readonly yields?: readonly LanguageModelV4StreamPart[];
}

/** How an item is shown as a tool's call; undefined for items that are none. */
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
