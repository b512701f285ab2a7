import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ProviderError } from "../../contract/provider-error.ts";
import { findLineage, findRollouts, rolloutPath, threadOf } from "./rollout-files.ts";
import { encodeImage, type SessionImage } from "./session-image.ts";

/** @throws {ProviderError} `session_not_found` */
export async function exportSession(codexHome: string, sessionId: string): Promise<Uint8Array> {
  const lineage = await findLineage(codexHome, sessionId);
  if (lineage.length === 0) {
    throw new ProviderError("session_not_found", `There is no session ${sessionId} in this CODEX_HOME.`);
  }
  const files = await Promise.all(
    lineage.map(async ({ name, path }) => ({ name, bytes: await readFile(path) })),
  );
  return encodeImage({ sessionId, files });
}

/**
 * Writes a session into a `CODEX_HOME`, exactly as it was exported.
 *
 * @param deleteThread Removes a thread and what Codex derived from it. Codex caches the history of
 *   an existing file, so a different thread must be deleted before its file is replaced.
 */
export async function importSession(
  codexHome: string,
  { sessionId, files }: SessionImage,
  deleteThread: (threadId: string) => Promise<void>,
): Promise<void> {
  for (const threadId of new Set([...files.flatMap(({ name }) => threadOf(name) ?? []), sessionId])) {
    const own = files.filter(({ name }) => threadOf(name) === threadId);
    const present = await readPresent(codexHome, threadId);
    // The source of a fork is needed only up to the fork, so a longer file is fine.
    const isEnough = (now: Buffer | undefined, wanted: Buffer): boolean =>
      now !== undefined &&
      (threadId === sessionId ? now.equals(wanted) : now.subarray(0, wanted.length).equals(wanted));
    const isSame =
      own.every(({ name, bytes }) => isEnough(present.get(name), bytes)) &&
      (threadId !== sessionId || present.size === own.length);
    if (isSame) continue;
    if (present.size > 0) await deleteThread(threadId);
    for (const { name, bytes } of own) await writeAtomically(join(codexHome, pathOf(name)), bytes);
  }
}

async function readPresent(codexHome: string, threadId: string): Promise<Map<string, Buffer>> {
  const present = new Map<string, Buffer>();
  for (const { name, path } of await findRollouts(codexHome, threadId))
    present.set(name, await readFile(path));
  return present;
}

/** Replaces a file atomically. */
async function writeAtomically(path: string, bytes: Buffer): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `.${basename(path)}.${randomUUID()}`);
  await writeFile(temporary, bytes, { mode: 0o600 });
  await rename(temporary, path);
}

function pathOf(name: string): string {
  const path = rolloutPath(name);
  if (path === undefined)
    throw new ProviderError("invalid_export", `"${name}" is not the name of a rollout.`);
  return path;
}
