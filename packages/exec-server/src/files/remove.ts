import { CODES, Refusal } from "../wire/refusal.ts";
import { lstat, rmdir, unlink } from "node:fs/promises";
import type { NativePath } from "../wire/path-uri.ts";
import { linkInPath, withoutLinks } from "./no-follow.ts";
import { removeTree } from "./remove-tree.ts";

export interface RemoveOptions {
  readonly recursive: boolean;
  readonly force: boolean;
  readonly followSymlinks: boolean;
}

/** Removes a file, a folder or a link (never its target). */
export async function removePath(path: NativePath, options: RemoveOptions): Promise<void> {
  if (!options.followSymlinks && options.recursive) {
    throw new Refusal(CODES.internal, "recursive no-follow removal is unsupported");
  }
  try {
    if (options.followSymlinks) await removeAt(path, options);
    else await withoutLinks(path, (last) => removeAt(last, options));
  } catch (error) {
    if (!options.force || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

async function removeAt(path: NativePath, { recursive, followSymlinks }: RemoveOptions): Promise<void> {
  const found = await lstat(path);
  if (found.isSymbolicLink() && !followSymlinks) throw linkInPath();
  if (!found.isDirectory()) await unlink(path);
  else if (recursive) await removeTree(path);
  else await rmdir(path);
}
