import type { Codex } from "codexkit";

/** The parts of Codex's own configuration that the provider needs. */
export interface ServerFacts {
  readonly codexHome: string | undefined;
  /** Whether the configuration has MCP servers. */
  readonly hasMcpServers: boolean;
  /** Alternative names for AGENTS.md. */
  readonly docNames: readonly string[];
  readonly sandboxWorkspaceWrite: Readonly<Record<string, unknown>>;
}

const UNKNOWN: ServerFacts = {
  codexHome: undefined,
  hasMcpServers: false,
  docNames: [],
  sandboxWorkspaceWrite: {},
};

/** Reads the configuration that applies in a folder. Facts that can't be read stay unknown and don't fail the call. */
export async function readServerFacts(codex: Codex, cwd: string): Promise<ServerFacts> {
  try {
    const [{ config }, { codexHome }] = await Promise.all([codex.config.read({ cwd }), codex.server()]);
    const values = config as Readonly<Record<string, unknown>>;
    const names = values["project_doc_fallback_filenames"];
    return {
      codexHome,
      hasMcpServers: Object.keys(objectOf(values["mcp_servers"])).length > 0,
      docNames: Array.isArray(names) ? names.filter((name) => typeof name === "string") : [],
      sandboxWorkspaceWrite: objectOf(values["sandbox_workspace_write"]),
    };
  } catch {
    return UNKNOWN;
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
