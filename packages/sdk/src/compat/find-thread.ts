import type { v2 } from "@codexkit/protocol";
import type { Codex } from "../codex.ts";

const EVERY_SOURCE: v2.ThreadSourceKind[] = [
  "cli",
  "vscode",
  "exec",
  "appServer",
  "subAgent",
  "subAgentReview",
  "subAgentCompact",
  "subAgentThreadSpawn",
  "subAgentOther",
  "unknown",
];

/** Returns the id itself, or finds the most recently updated thread with that name in this folder. */
export async function findThread(codex: Codex, idOrName: string, cwd: string): Promise<string | undefined> {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(idOrName)) return idOrName;
  const threads = codex.listThreads({
    searchTerm: idOrName,
    sortKey: "updated_at",
    sourceKinds: EVERY_SOURCE,
  });
  for await (const thread of threads) {
    if (thread.name === idOrName && thread.cwd === cwd) return thread.id;
  }
  return undefined;
}
