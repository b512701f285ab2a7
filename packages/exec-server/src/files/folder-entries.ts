// Part of the file helper: imports nothing from outside this package's own folder.
import type { Dirent, OpenDirOptions, PathLike } from "node:fs";
import { opendir } from "node:fs/promises";

/** Entries that are read at once. */
const PORTION = 512;

/**
 * The entries of a folder, with their names as bytes, in no order. They are read in portions: reading a folder with 100,000
 * entries at once occupies the event loop for a second.
 */
export async function* folderEntries(path: PathLike): AsyncGenerator<Dirent<Buffer>> {
  // Node's types don't know that names can be bytes here too.
  const options = { encoding: "buffer", bufferSize: PORTION } as unknown as OpenDirOptions;
  for await (const entry of await opendir(path, options)) yield entry as unknown as Dirent<Buffer>;
}
