import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";

/** A full disk, an exceeded quota, and a file size limit (`ulimit -f`). */
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
/** SQLite's largest page size: the failed write ended at most this far beyond the end of a file. */
const PAGE_BYTES = 65_536;

/**
 * Whether the database can't grow. SQLite reports an exceeded quota or file size limit like a broken disk.
 * Writing another file up to the length of the longest one tells them apart.
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
