import { mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { RolloutStore } from "../rollouts/rollout-store.ts";

/**
 * Writes the stored rollout files of a session into a Codex home that has none of them. Files that exist stay as they are:
 * Codex's own databases know more of them than a shorter copy has. Returns the number of written files.
 */
export async function restoreRollouts(
  rollouts: RolloutStore,
  { sessionId, codexHome }: { readonly sessionId: string; readonly codexHome: string },
): Promise<number> {
  let written = 0;
  for (const { id, path } of await rollouts.lineage(sessionId)) {
    const target = join(codexHome, path);
    if (await stat(target).catch(() => undefined)) continue;
    const data = await rollouts.read(id);
    if (!data) continue;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, data, { mode: 0o600 });
    written += 1;
  }
  return written;
}
