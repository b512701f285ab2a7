import { commonTool } from "@ai-sdk/harness";
import { z } from "zod";

/** Tools that all harnesses have, from the provider's name to the harness's name. */
const common: Readonly<Record<string, string>> = { codex_exec: "bash", codex_web_search: "webSearch" };

/**
 * Codex's own tools, by their names in a harness's stream. MCP tools and subagent operations are dynamic tools, because their
 * names are not known in advance.
 */
export const builtinTools = {
  bash: commonTool("bash", {
    nativeName: "codex_exec",
    toolUseKind: "bash",
    description: "Runs a shell command, in Codex's sandbox unless a person allows more",
    inputSchema: z.object({ command: z.string(), cwd: z.string().optional() }),
  }),
  webSearch: commonTool("webSearch", {
    nativeName: "codex_web_search",
    toolUseKind: "readonly",
    description: "Searches the web",
    inputSchema: z.object({ query: z.string() }).loose(),
  }),
  codex_patch: {
    description: "Changes files",
    inputSchema: z.object({ changes: z.array(z.looseObject({ path: z.string() })) }).loose(),
    toolUseKind: "edit" as const,
  },
};

/** The name of a tool in a harness's stream, and the provider's name if that differs. */
export function harnessName(toolName: string): { toolName: string; nativeName?: string } {
  const name = common[toolName];
  return name === undefined ? { toolName } : { toolName: name, nativeName: toolName };
}

export function isBuiltin(toolName: string): boolean {
  return Object.hasOwn(builtinTools, toolName);
}
