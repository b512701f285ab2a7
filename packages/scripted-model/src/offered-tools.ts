import { isRecord } from "./json.ts";

/** A tool that a request offers to the model. */
export interface OfferedTool {
  readonly name: string;
  readonly namespace?: string;
  /**
   * `"function"` takes JSON and `"custom"` takes text. `"nested"` is only called from code, and its name is a JavaScript
   * identifier. Any other type is run by the model's endpoint (`web_search`).
   */
  readonly type: string;
}

/** Whether the model calls tools one by one or writes JavaScript that calls them. */
export type ModelKind = "classic" | "code";

/** Reads the tools of a request: from `tools`, and in code mode from the `additional_tools` items. */
export function offeredTools(
  body: Record<string, unknown>,
  input: readonly unknown[],
): readonly OfferedTool[] {
  const listed = Array.isArray(body["tools"]) ? body["tools"] : [];
  const added = input.flatMap((item) =>
    isRecord(item) && item["type"] === "additional_tools" && Array.isArray(item["tools"])
      ? item["tools"]
      : [],
  );
  return [...listed, ...added].flatMap((tool: unknown) => readTool(tool));
}

export function modelKind(tools: readonly OfferedTool[]): ModelKind {
  return tools.some(({ name, type }) => name === "exec" && type === "custom") ? "code" : "classic";
}

function readTool(tool: unknown, namespace?: string): OfferedTool[] {
  if (!isRecord(tool) || typeof tool["type"] !== "string") return [];
  const { type, name } = tool;
  if (type === "namespace" && typeof name === "string" && Array.isArray(tool["tools"]))
    return tool["tools"].flatMap((inner: unknown) => readTool(inner, name));
  // Tools without a name, such as web_search, are identified by their type.
  const read = {
    name: typeof name === "string" ? name : type,
    type,
    ...(namespace !== undefined && { namespace }),
  };
  return name === "exec" && type === "custom" ? [read, ...nestedTools(tool["description"])] : [read];
}

/** Parses the nested tools from the description of `exec`. It has one heading per tool and is the only place that lists them. */
function nestedTools(description: unknown): OfferedTool[] {
  if (typeof description !== "string") return [];
  return Array.from(description.matchAll(/^### `([^`\n]+)`/gm), ([, name = ""]) => ({
    name,
    type: "nested",
  }));
}

/**
 * Returns the identifier of a tool in code: `lab` + `mix-up` is `tools.lab__mix_up`, `9lives` is `tools._lives`.
 */
export function toolIdentifier(name: string, namespace?: string): string {
  const full = namespace === undefined || namespace === "functions" ? name : `${namespace}__${name}`;
  return full.replace(/[^\w$]/g, "_").replace(/^\d/, "_");
}
