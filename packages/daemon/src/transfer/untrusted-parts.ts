import type { PermissionMode, SessionSetup } from "../api/settings.ts";
import type { LineOf } from "./session-file.ts";

/** What an import took out of a file that the caller does not trust. */
export interface LeftOut {
  /** Names of MCP servers that would run a program here, or send a variable of the daemon. */
  readonly mcpServers: readonly string[];
  /** The mode that the file has, if it is wider than the one of the session here. */
  readonly permissionMode: PermissionMode | null;
  /** How many parked approvals have to be answered again. */
  readonly answers: number;
}

/** Modes that keep the agent inside a sandbox. */
const SANDBOXED: ReadonlySet<PermissionMode> = new Set(["read-only", "workspace-write"]);

type ExportedSession = LineOf<"session">["session"];

/** The session of a file without what would run programs here, and what was taken out. */
export function withoutPrograms(session: ExportedSession): {
  readonly session: ExportedSession;
  readonly leftOut: Omit<LeftOut, "answers">;
} {
  const { mcpServers, ...setup } = session.setup;
  const servers = Object.entries(mcpServers ?? {});
  const kept = servers.filter(([, server]) => isHarmless(server));
  const { permissionMode } = session.settings;
  const isSandboxed = SANDBOXED.has(permissionMode);
  return {
    session: {
      ...session,
      setup: { ...setup, ...(kept.length > 0 && { mcpServers: Object.fromEntries(kept) }) },
      settings: { ...session.settings, ...(!isSandboxed && { permissionMode: "workspace-write" }) },
    },
    leftOut: {
      mcpServers: servers.filter(([, server]) => !isHarmless(server)).map(([name]) => name),
      permissionMode: isSandboxed ? null : permissionMode,
    },
  };
}

/** For the journal, or undefined if the session is as in the file. */
export function describeLeftOut({ mcpServers, permissionMode, answers }: LeftOut): string | undefined {
  const parts = [
    ...(mcpServers.length > 0 ? [`the MCP servers ${mcpServers.join(", ")}`] : []),
    ...(permissionMode === null ? [] : [`the permission mode ${permissionMode}`]),
    ...(answers > 0 ? [`the answers of ${answers} parked approvals`] : []),
  ];
  if (parts.length === 0) return undefined;
  return `The imported file is not trusted. Left out: ${parts.join(", ")}.`;
}

function isHarmless(server: NonNullable<SessionSetup["mcpServers"]>[string]): boolean {
  return !("command" in server) && server.bearerTokenEnvVar === undefined;
}
