// Part of the file helper: imports nothing from outside this package's own folder.
import type { Dirent, OpenDirOptions, PathLike } from "node:fs";
import { opendir } from "node:fs/promises";

/** Number of entries per read. */
const PORTION = 512;

/**
 * Yields the entries of a folder in no particular order, with their names as bytes. Reads in portions,
 * because reading a folder with 100,000 entries at once blocks the event loop for a second.
 */
export async function* folderEntries(path: PathLike): AsyncGenerator<Dirent<Buffer>> {
  // Node's types don't declare that names can be bytes here too.
  const options = { encoding: "buffer", bufferSize: PORTION } as unknown as OpenDirOptions;
  for await (const entry of await opendir(path, options)) yield entry as unknown as Dirent<Buffer>;
}
