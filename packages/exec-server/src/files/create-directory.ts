import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { NativePath } from "../wire/path-uri.ts";
import { withoutLinks } from "./no-follow.ts";

export async function createDirectory(
  path: NativePath,
  { recursive, followSymlinks }: { recursive: boolean; followSymlinks: boolean },
): Promise<void> {
  if (!followSymlinks) {
    const make = (last: Buffer): Promise<void> => (recursive ? makeUnlessThere(last) : mkdir(last));
    await withoutLinks(path, make, { createParents: recursive });
  } else if (recursive) await makeWithParents(path);
  else await mkdir(path);
}

/** Node's own recursive variant is not used, because it reports a missing folder on a read-only disk. */
async function makeWithParents(path: NativePath): Promise<void> {
  try {
    await makeUnlessThere(path);
  } catch (error) {
    const parent = parentOf(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === undefined) throw error;
    await makeWithParents(parent);
    await makeUnlessThere(path);
  }
}

async function makeUnlessThere(path: NativePath): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST" && (await stat(path)).isDirectory();
    if (!isThere) throw error;
  }
}

function parentOf(path: NativePath): NativePath | undefined {
  // Decoded as latin1, so that names that are not UTF-8 are preserved.
  const text = typeof path === "string" ? path : path.toString("latin1");
  const parent = dirname(text);
  if (parent === text) return undefined;
  return typeof path === "string" ? parent : Buffer.from(parent, "latin1");
}
