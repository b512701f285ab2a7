import { CodexError } from "../errors.ts";
import { toolLimits } from "./limits.ts";

/** Namespaces that belong to the Responses API: Codex refuses them. */
const reservedNamespaces: ReadonlySet<string> = new Set([
  "api_tool",
  "browser",
  "computer",
  "container",
  "file_search",
  "functions",
  "image_gen",
  "multi_tool_use",
  "python",
  "python_user_visible",
  "submodel_delegator",
  "terminal",
  "tool_search",
  "web",
]);

/**
 * Codex's own tools, on one kind of model or the other. It takes a dynamic tool of such a name without a word, and then
 * calls its own: the dynamic one is never reached.
 */
const ownTools: ReadonlySet<string> = new Set([
  "apply_patch",
  "create_goal",
  "exec",
  "exec_command",
  "get_goal",
  "list_mcp_resource_templates",
  "list_mcp_resources",
  "read_mcp_resource",
  "request_permissions",
  "request_user_input",
  "request_user_input_async",
  "tool_search",
  "update_goal",
  "view_image",
  "wait",
  "write_stdin",
]);

/** Throws `invalid_tool` for a name that Codex refuses, or would take and never call. */
export function checkToolName(name: string, namespace?: string): void {
  checkCharacters("tool", name, toolLimits.nameCharacters);
  if (namespace === undefined && ownTools.has(toolIdentifier(name))) {
    throw invalidTool("tool", name, "Codex has a tool of its own by that name, and would call that instead");
  }
}

/** Throws `invalid_tool` for a namespace that Codex refuses. */
export function checkNamespace(name: string, description: string): void {
  checkCharacters("namespace", name, toolLimits.namespaceCharacters);
  if (reservedNamespaces.has(name)) {
    throw invalidTool("namespace", name, "the name is reserved by the Responses API");
  }
  const { namespaceDescriptionCharacters: limit } = toolLimits;
  // Codex counts code points, not UTF-16 units.
  if (description.length > limit && Array.from(description).length > limit) {
    throw invalidTool("namespace", name, `the description is longer than ${limit} characters`);
  }
}

function checkCharacters(what: "tool" | "namespace", name: string, limit: number): void {
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
    throw invalidTool(what, name, "a name has letters, digits, _ and -, and at least one of them");
  }
  if (name.length > limit) throw invalidTool(what, name, `the name is longer than ${limit} characters`);
  if (name === "mcp" || name.startsWith("mcp__")) {
    throw invalidTool(what, name, "names that are mcp or start with mcp__ are reserved for MCP servers");
  }
}

/** An error that names the tool and the rule. */
export function invalidTool(
  what: "tool" | "namespace",
  name: string,
  rule: string,
  options?: ErrorOptions,
): CodexError {
  return new CodexError("invalid_tool", `The ${what} ${JSON.stringify(name)}: ${rule}.`, options);
}

/**
 * The identifier under which a model that writes code reaches a tool: `lab` with `mix-up` is `lab__mix_up`. Of two tools with
 * one identifier, Codex gives such a model only one.
 */
export function toolIdentifier(name: string, namespace?: string): string {
  const full = namespace === undefined ? name : `${namespace}__${name}`;
  return full.replaceAll(/\W/g, "_").replace(/^\d/, "_");
}
