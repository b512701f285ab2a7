import { CodexError } from "../errors.ts";
import { TOOL_LIMITS } from "./limits.ts";

/** Namespaces of the Responses API. Codex rejects them. */
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
 * Codex's built-in tools, for all kinds of models. Codex silently accepts a dynamic tool with such a name and then calls its
 * built-in one.
 */
const builtInTools: ReadonlySet<string> = new Set([
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

/** Throws `invalid_tool` for a name that Codex rejects, or accepts and never calls. */
export function checkToolName(name: string, namespace?: string): void {
  checkCharacters("tool", name, TOOL_LIMITS.nameCharacters);
  if (namespace === undefined && builtInTools.has(toolIdentifier(name))) {
    throw invalidTool("tool", name, "Codex has a built-in tool with this name and would call that instead");
  }
}

/** Throws `invalid_tool` for a namespace that Codex rejects. */
export function checkNamespace(name: string, description: string): void {
  checkCharacters("namespace", name, TOOL_LIMITS.namespaceCharacters);
  if (reservedNamespaces.has(name)) {
    throw invalidTool("namespace", name, "the name is reserved by the Responses API");
  }
  const { namespaceDescriptionCharacters: limit } = TOOL_LIMITS;
  // Codex counts code points, not UTF-16 units.
  if (description.length > limit && Array.from(description).length > limit) {
    throw invalidTool("namespace", name, `the description is longer than ${limit} characters`);
  }
}

function checkCharacters(what: "tool" | "namespace", name: string, limit: number): void {
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
    throw invalidTool(what, name, "a name consists of one or more letters, digits, _ and -");
  }
  if (name.length > limit) throw invalidTool(what, name, `the name is longer than ${limit} characters`);
  if (name === "mcp" || name.startsWith("mcp__")) {
    throw invalidTool(
      what,
      name,
      "the name mcp and names that start with mcp__ are reserved for MCP servers",
    );
  }
}

/** Creates an error that names the tool and the violated rule. */
export function invalidTool(
  what: "tool" | "namespace",
  name: string,
  rule: string,
  options?: ErrorOptions,
): CodexError {
  return new CodexError("invalid_tool", `The ${what} ${JSON.stringify(name)}: ${rule}.`, options);
}

/**
 * Returns the identifier by which a model that writes code calls a tool: `lab` and `mix-up` become `lab__mix_up`. If two tools
 * share an identifier, such a model sees only one of them.
 */
export function toolIdentifier(name: string, namespace?: string): string {
  const full = namespace === undefined ? name : `${namespace}__${name}`;
  return full.replaceAll(/\W/g, "_").replace(/^\d/, "_");
}
