import type { JSONValue, LanguageModelV4Source } from "@ai-sdk/provider";
import type { ItemOf, ToolView } from "./tool-view.ts";

/** A web search or a visited page. Codex starts the item empty and fills it in on completion. */
export function webSearchView(item: ItemOf<"webSearch">): ToolView {
  const { id, query, action, results } = item;
  const sources = [...resultSources(id, results ?? []), ...pageSource(id, action)];
  return {
    toolName: "codex_web_search",
    isKnown: query !== "" || (action !== null && action.type !== "other"),
    input: { query, ...(action && { action: action as JSONValue }) },
    result: {
      query,
      ...(action && { action: action as JSONValue }),
      ...(results && { results: results as JSONValue }),
    },
    yields: sources,
  };
}

function resultSources(itemId: string, results: readonly unknown[]): LanguageModelV4Source[] {
  return results.flatMap((result, at) => {
    // Codex passes search results on without checking them. An entry without a URL is not a source.
    const { url, title } = (result ?? {}) as { url?: unknown; title?: unknown };
    return typeof url === "string" ? [source(`${itemId}:${at}`, url, title)] : [];
  });
}

function pageSource(itemId: string, action: ItemOf<"webSearch">["action"]): LanguageModelV4Source[] {
  const url = action && "url" in action ? action.url : null;
  return url === null ? [] : [source(itemId, url)];
}

function source(id: string, url: string, title?: unknown): LanguageModelV4Source {
  return { type: "source", sourceType: "url", id, url, ...(typeof title === "string" && { title }) };
}
