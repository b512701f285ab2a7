import type { PermissionMode } from "../api/settings.ts";
import type { LineOf } from "./session-file.ts";

/** Parts that an import left out, because the caller does not trust the file. */
export interface LeftOut {
  /**
   * Names of MCP servers, which Codex starts or contacts as soon as it loads the thread. The export may have left out
   * some of them.
   */
  readonly mcpServers: readonly string[];
  /** Names of tools by webhook. Their URLs receive parts of the conversation. */
  readonly tools: readonly string[];
  /** URL of the execution environment. The commands of the session run on this machine instead. */
  readonly environment: string | null;
  /** The permission mode in the file, if it was reduced. */
  readonly permissionMode: PermissionMode | null;
  /** Number of parked approvals that have to be answered again. */
  readonly answers: number;
}

export const NOTHING_LEFT_OUT: LeftOut = {
  mcpServers: [],
  tools: [],
  environment: null,
  permissionMode: null,
  answers: 0,
};

/** Modes with a sandbox. */
const SANDBOXED: ReadonlySet<PermissionMode> = new Set(["read-only", "workspace-write"]);

type ExportedSession = LineOf<"session">["session"];

/**
 * Returns the session of a file without the parts that run programs or open connections, and the parts that were left
 * out.
 */
export function withoutPrograms(session: ExportedSession): {
  readonly session: ExportedSession;
  readonly leftOut: Omit<LeftOut, "answers">;
} {
  const { mcpServers = {}, environment, tools = [], dedicated } = session.setup;
  const { permissionMode } = session.settings;
  const isSandboxed = SANDBOXED.has(permissionMode);
  return {
    session: {
      ...session,
      // Only parts that are known to be harmless, so that parts that are added later are left out.
      setup: { ...(dedicated !== undefined && { dedicated }) },
      settings: { ...session.settings, ...(!isSandboxed && { permissionMode: "workspace-write" }) },
    },
    leftOut: {
      mcpServers: Object.keys(mcpServers),
      tools: tools.map(({ name }) => name),
      environment: environment?.url ?? null,
      permissionMode: isSandboxed ? null : permissionMode,
    },
  };
}

/** Creates the text for the journal. Returns undefined if nothing was left out. */
export function describeLeftOut({
  mcpServers,
  tools,
  environment,
  permissionMode,
  answers,
}: LeftOut): string | undefined {
  const parts = [
    ...(mcpServers.length > 0 ? [`the MCP servers ${mcpServers.join(", ")}`] : []),
    ...(tools.length > 0 ? [`the tools ${tools.join(", ")}`] : []),
    ...(environment === null ? [] : [`the environment ${environment}`]),
    ...(permissionMode === null ? [] : [`the permission mode ${permissionMode}`]),
    ...(answers > 0 ? [`the answers of ${answers} parked approvals`] : []),
  ];
  if (parts.length === 0) return undefined;
  return `Parts of the file were not imported: ${parts.join(", ")}.`;
}
