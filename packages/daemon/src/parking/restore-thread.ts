import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Codex } from "codexkit";
import type { RolloutStore } from "../rollouts/rollout-store.ts";

/** A thread's rollout file, cut where it is continued. */
export interface CutFile {
  readonly rolloutId: string;
  readonly data: Uint8Array;
}

/**
 * Puts the stored files of a session's thread into a Codex home, some of them cut. The thread is deleted there first: Codex
 * would show the history of a longer file that it has seen before.
 */
export async function restoreThread(
  codex: Codex,
  {
    threadId,
    sessionId,
    codexHome,
    rollouts,
    cuts,
  }: {
    readonly threadId: string;
    readonly sessionId: string;
    readonly codexHome: string;
    readonly rollouts: RolloutStore;
    readonly cuts: readonly CutFile[];
  },
): Promise<void> {
  // A home that never had the thread refuses.
  await codex.deleteThread(threadId).catch(() => {});
  for (const { id, path, role } of await rollouts.lineage(sessionId)) {
    const data = cuts.find(({ rolloutId }) => rolloutId === id)?.data ?? (await rollouts.read(id));
    if (!data) continue;
    const target = join(codexHome, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    // The files of other threads, which this one continues, may be longer than what is stored.
    await writeFile(target, data, { mode: 0o600, flag: role === "base" ? "wx" : "w" }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      },
    );
  }
}
