import type { FileHandle } from "node:fs/promises";
import type { NativePath } from "../wire/path-uri.ts";
import { openFile } from "./open-file.ts";

/** Replaces a file's content in place, so that its inode, links and mode are kept. */
export async function writeFileWhole(
  path: NativePath,
  bytes: Buffer,
  followSymlinks: boolean,
): Promise<void> {
  // Overwritten and then truncated: truncating first would free the file's memory only to allocate it again.
  const handle = await openFile(path, "overwrite", { followSymlinks });
  try {
    await writeAll(handle, bytes, 0);
    await handle.truncate(bytes.length);
  } finally {
    await handle.close();
  }
}

/** @param position Where to write. `null`: after the last write. */
export async function writeAll(handle: FileHandle, bytes: Buffer, position: number | null): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const offset = position === null ? null : position + at;
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, offset);
    at += bytesWritten;
  }
}
