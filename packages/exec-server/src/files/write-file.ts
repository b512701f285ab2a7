import type { FileHandle } from "node:fs/promises";
import type { NativePath } from "../wire/path-uri.ts";
import { openFile } from "./open-file.ts";

/** Replaces a file's content in place: the inode, its links and its mode stay. */
export async function writeFileWhole(
  path: NativePath,
  bytes: Buffer,
  followSymlinks: boolean,
): Promise<void> {
  // Written over and then cut: emptying it first would give its memory back only to ask for it again.
  const handle = await openFile(path, "overwrite", { followSymlinks });
  try {
    await writeAll(handle, bytes, 0);
    await handle.truncate(bytes.length);
  } finally {
    await handle.close();
  }
}

/** @param position Where to write. `null`: where the last write ended. */
export async function writeAll(handle: FileHandle, bytes: Buffer, position: number | null): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const offset = position === null ? null : position + at;
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, offset);
    at += bytesWritten;
  }
}
