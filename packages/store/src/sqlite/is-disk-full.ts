import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";

/** A full disk, an exceeded quota, and the limit of a file's size (`ulimit -f`). */
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
/** SQLite's largest page: the write that failed ended at most this far behind the end of a file. */
const PAGE_BYTES = 65_536;

/**
 * Whether the database can't grow. SQLite reports a quota and a limit of the file size as it reports a broken disk; a write to another
 * file, as far as the longest one reaches, tells them apart.
 */
export function isDiskFull(location: string): boolean {
  const probe = `${location}-probe`;
  try {
    const file = openSync(probe, "w");
    try {
      writeSync(file, "x", Math.max(sizeOf(location), sizeOf(`${location}-wal`)) + PAGE_BYTES);
    } finally {
      closeSync(file);
      rmSync(probe, { force: true });
    }
    return false;
  } catch (error) {
    return FULL.has((error as NodeJS.ErrnoException).code ?? "");
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
