import type { Rule } from "@codexkit/approvals";

/** Kind of request that an entry of a tool list refers to. */
export type ToolKind = "command" | "edit" | "mcp";

/** An entry of `allowedTools` or `disallowedTools`, in terms of Codex. */
export type ToolRule =
  /** Requests of this kind: those that match the rules, or all. */
  | { readonly tool: ToolKind; readonly rules: readonly Rule[] }
  | { readonly tool: "web-search" }
  | { readonly tool: "agents" }
  /** Codex has no such tool. */
  | { readonly tool: "unknown"; readonly name: string };

/** Codex has no tools for reading. It runs these commands. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  Read: ["cat", "head", "nl", "tail", "wc"],
  Grep: ["grep", "rg"],
  Glob: ["find", "fd", "ls", "rg --files"],
  LS: ["ls", "tree"],
};

const EDITORS = new Set(["Edit", "MultiEdit", "NotebookEdit", "Write"]);

/** `Name` or `Name(what)`. */
const ENTRY = /^(?<name>[\w-]+?)(?:\((?<what>[^]*)\))?$/;
const MCP_TOOL = /^mcp__(?<server>[^]+?)(?:__(?<tool>[^]+))?$/;

/** Parses an entry in the format of Claude's permissions: `Bash(git push:*)`, `Edit(src/**)`, `mcp__server__tool`. */
export function readToolRule(entry: string): ToolRule {
  const { server, tool } = MCP_TOOL.exec(entry)?.groups ?? {};
  if (server !== undefined) {
    return {
      tool: "mcp",
      rules: [tool === undefined ? { kind: "mcp", server } : { kind: "mcp", server, tool }],
    };
  }
  const { name = "", what } = ENTRY.exec(entry)?.groups ?? {};
  if (name === "Bash") return { tool: "command", rules: what === undefined ? [] : [commandRule(what)] };
  if (EDITORS.has(name)) {
    return { tool: "edit", rules: what === undefined ? [] : [{ kind: "path", glob: what, access: "write" }] };
  }
  const readers = what === undefined ? READERS[name] : undefined;
  if (readers) return { tool: "command", rules: readers.map(prefixRule) };
  if (name === "WebSearch") return { tool: "web-search" };
  if (name === "Task" || name === "Agent") return { tool: "agents" };
  return { tool: "unknown", name: entry };
}

/** `git push:*` is a prefix, `*` matches everything, and anything else matches exactly. */
function commandRule(what: string): Rule {
  if (what === "*") return { kind: "regex", pattern: ".*" };
  if (what.endsWith(":*")) return prefixRule(what.slice(0, -2));
  return { kind: "exact", argv: wordsOf(what) };
}

function prefixRule(words: string): Rule {
  return { kind: "prefix", argv: wordsOf(words) };
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
