import type { Rule } from "@codexkit/approvals";

/** What sort of request an entry of a tool list speaks about. */
export type ToolKind = "command" | "edit" | "mcp";

/** An entry of `allowedTools` or `disallowedTools`, in the words of Codex. */
export type ToolRule =
  /** Requests of this kind: those that the rules name, or all of them. */
  | { readonly tool: ToolKind; readonly rules: readonly Rule[] }
  | { readonly tool: "web-search" }
  | { readonly tool: "agents" }
  /** Codex has no such tool. */
  | { readonly tool: "unknown"; readonly name: string };

/** Codex has no tools to read with: it runs these. */
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

/** Reads an entry in the grammar that Claude's permissions have: `Bash(git push:*)`, `Edit(src/**)`, `mcp__server__tool`. */
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

/** `git push:*` is a beginning, `*` is everything, and the rest is meant word for word. */
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
