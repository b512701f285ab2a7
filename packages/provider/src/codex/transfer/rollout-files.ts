import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { z } from "zod";

/** A file in which Codex keeps a thread, or a part of one. */
export interface RolloutFile {
  readonly name: string;
  readonly threadId: string;
  readonly path: string;
}

/** `rollout-2026-01-31T10-20-30-<thread>.jsonl`; `_<segment>` after a revert, `.zst` once Codex compressed it. */
const ROLLOUT_NAME =
  /^rollout-(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})T[\d-]+?-(?<threadId>[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:_[\w-]+)?\.jsonl(?:\.zst)?$/;

/** The threads of a `CODEX_HOME` are in `sessions/<year>/<month>/<day>`, archived ones in `archived_sessions`. */
const FOLDERS = ["sessions", "archived_sessions"] as const;

/** A fork or a reverted thread starts from a part of another thread's file. */
const sessionMeta = z.object({
  type: z.literal("session_meta"),
  payload: z.object({ history_base: z.object({ thread_id: z.string() }).nullish() }),
});

/** Where Codex looks for a rollout of this name, relative to `CODEX_HOME`; undefined if it is not the name of one. */
export function rolloutPath(name: string): string | undefined {
  const { year, month, day } = ROLLOUT_NAME.exec(name)?.groups ?? {};
  return year && month && day ? join("sessions", year, month, day, name) : undefined;
}

export function threadOf(name: string): string | undefined {
  return ROLLOUT_NAME.exec(name)?.groups?.["threadId"];
}

/** All files that a thread needs to be resumed: its own, and those of the threads that it was forked from. */
export async function findLineage(codexHome: string, threadId: string): Promise<RolloutFile[]> {
  const files = await listRollouts(codexHome);
  const lineage: RolloutFile[] = [];
  const threads = new Set([threadId]);
  // Iterating a set also yields elements that are added meanwhile.
  for (const id of threads) {
    for (const file of files) {
      if (file.threadId !== id) continue;
      lineage.push(file);
      const base = readBase(await readFile(file.path), file.name);
      if (base !== undefined) threads.add(base);
    }
  }
  return lineage;
}

/** The files of one thread. */
export async function findRollouts(codexHome: string, threadId: string): Promise<RolloutFile[]> {
  return (await listRollouts(codexHome)).filter((file) => file.threadId === threadId);
}

async function listRollouts(codexHome: string): Promise<RolloutFile[]> {
  const files: RolloutFile[] = [];
  for (const folder of FOLDERS) {
    for (const entry of await readFolder(join(codexHome, folder))) {
      const threadId = threadOf(entry.name);
      if (threadId === undefined || !entry.isFile()) continue;
      files.push({ name: entry.name, threadId, path: join(entry.parentPath, entry.name) });
    }
  }
  return files;
}

async function readFolder(path: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(path, { recursive: true, withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** The thread that a rollout starts from, according to its first line. */
function readBase(bytes: Buffer, name: string): string | undefined {
  const text = (name.endsWith(".zst") ? zstdDecompressSync(bytes) : bytes).toString("utf8");
  const end = text.indexOf("\n");
  const parsed = sessionMeta.safeParse(JSON.parse(end === -1 ? text : text.slice(0, end)));
  return parsed.success ? parsed.data.payload.history_base?.thread_id : undefined;
}
