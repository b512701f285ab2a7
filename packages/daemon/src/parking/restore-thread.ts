import { randomUUID } from "node:crypto";
import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Codex } from "codexkit";
import type { RolloutFile, RolloutStore } from "../rollouts/rollout-store.ts";
import { unloadThread } from "./unload-thread.ts";

/** A thread's rollout file, truncated to the position at which the thread is continued. */
export interface CutFile {
  readonly rolloutId: string;
  readonly data: Uint8Array;
}

/**
 * Writes the stored files of a session's thread, its agents, and the threads that it continues to a Codex home, optionally
 * truncated. The threads are deleted there first, because Codex would otherwise keep the history of a longer file that it has
 * already read. No-op if no file of the thread is stored. Returns the number of written files.
 */
export async function restoreThread(
  codex: Codex,
  {
    sessionId,
    codexHome,
    rollouts,
    cuts = [],
  }: {
    readonly sessionId: string;
    readonly codexHome: string;
    readonly rollouts: RolloutStore;
    readonly cuts?: readonly CutFile[];
  },
): Promise<number> {
  const files = await rollouts.lineage(sessionId);
  const own = files.filter(({ role, bytes }) => role !== "base" && bytes > 0);
  if (!own.some(({ role }) => role === "main")) return 0;
  // This home may have the only complete files.
  await rollouts.requireWhole(sessionId);
  for (const threadId of new Set(own.map(threadOf))) await unloadThread(codex, threadId);
  let written = 0;
  for (const file of files) {
    const target = join(codexHome, file.path);
    // Another session of this home may have written more to the file than is stored. A shorter file is an older state of the
    // thread.
    if (file.role === "base" && (await sizeOf(target)) >= file.bytes) continue;
    const data = cuts.find(({ rolloutId }) => rolloutId === file.id)?.data ?? (await rollouts.read(file.id));
    if (!data) continue;
    await replaceFile(target, data);
    written += 1;
  }
  return written;
}

/** A revert continues a thread in a file with the ID `<thread>_<segment>`. */
function threadOf({ id }: RolloutFile): string {
  return id.split("_", 1)[0] ?? id;
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? -1;
}

/** Replaces a file atomically, because a thread of another session may be continuing it. */
async function replaceFile(path: string, data: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}.tmp`;
  await writeFile(temporary, data, { mode: 0o600 });
  await rename(temporary, path);
}
