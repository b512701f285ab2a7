// A node whose daemon does not run, for benchmarks of the store.
import type { Database } from "../../../packages/daemon/src/database.ts";

export const CODEX_VERSION = "0.166.0";

export async function registerNode(database: Database, name: string): Promise<string> {
  return database.nodes.register({ name, version: "0.1.0", codexVersion: CODEX_VERSION });
}

/** Adds a session that every node can claim, or only those with the labels in `needs`. */
export async function insertSession(
  database: Database,
  { by, key, needs = [] }: { readonly by: string; readonly key: string; readonly needs?: readonly string[] },
): Promise<void> {
  const settings = {
    permissionMode: "workspace-write",
    agentMode: "build",
    approvalPolicy: "on-request",
  } as const;
  await database.sessions.insert({ cwd: "/work", settings, by, key, needs });
}
