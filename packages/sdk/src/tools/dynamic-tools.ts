import type { v2 } from "@codexkit/protocol";
import { checkNamespace, checkToolName, invalidTool, toolIdentifier } from "./tool-name.ts";
import type { AnyTool, Tool } from "./tool.ts";

/** Returns all tools of a list, including those in namespaces. */
export function flattenTools(tools: readonly AnyTool[]): Tool[] {
  return tools.flatMap((entry) => (entry.type === "namespace" ? entry.tools : [entry]));
}

/** Converts tools to the `dynamicTools` of `thread/start`. Throws `invalid_tool`, which names the tool and the violated rule. */
export function toDynamicTools(tools: readonly AnyTool[]): v2.DynamicToolSpec[] {
  const all = flattenTools(tools);
  checkConflicts(all);
  const descriptions = collectNamespaces(tools);
  const functions = all.filter(({ namespace }) => namespace === undefined);
  return [
    ...functions.map((tool) => toFunction(tool)),
    ...descriptions.entries().map(([name, description]) => ({
      type: "namespace" as const,
      name,
      description,
      tools: all.filter(({ namespace }) => namespace === name).map((tool) => toFunction(tool)),
    })),
  ];
}

function toFunction(tool: Tool): { type: "function" } & v2.DynamicToolFunctionSpec {
  const { name, description, inputSchema, deferLoading } = tool;
  return {
    type: "function",
    name,
    description,
    inputSchema,
    ...(deferLoading && { deferLoading }),
  };
}

/** Returns all namespaces with their descriptions. */
function collectNamespaces(tools: readonly AnyTool[]): Map<string, string> {
  const descriptions = new Map<string, string>();
  for (const entry of tools) {
    if (entry.type === "tool") {
      if (entry.namespace === undefined) continue;
      checkNamespace(entry.namespace, "");
      descriptions.set(entry.namespace, descriptions.get(entry.namespace) ?? "");
      continue;
    }
    if (entry.tools.length === 0) throw invalidTool("namespace", entry.name, "it has no tools");
    const known = descriptions.get(entry.name) ?? "";
    if (known !== "" && known !== entry.description) {
      throw invalidTool("namespace", entry.name, "it has two different descriptions");
    }
    descriptions.set(entry.name, entry.description);
  }
  return descriptions;
}

function checkConflicts(tools: readonly Tool[]): void {
  const known = new Map<string, Tool>();
  for (const tool of tools) {
    const { name, namespace, deferLoading } = tool;
    checkToolName(name, namespace);
    if (deferLoading && namespace === undefined) {
      throw invalidTool("tool", name, "deferLoading needs a namespace");
    }
    const identifier = toolIdentifier(name, namespace);
    const other = known.get(identifier);
    if (other) throw invalidTool("tool", name, describeConflict(tool, other));
    known.set(identifier, tool);
  }
}

function describeConflict(tool: Tool, other: Tool): string {
  if (tool.name === other.name && tool.namespace === other.namespace) return "another tool has the same name";
  const otherName = [other.namespace, other.name].filter((part) => part !== undefined).join(" / ");
  return `models that write code can't distinguish it from ${otherName}`;
}
