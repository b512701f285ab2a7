import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { join, resolve } from "node:path";

/** Files of a git repository that determine what is ignored. */
export interface GitFolder {
  readonly index: string;
  readonly exclude: string;
}

/** Longer than any path on any system. */
const MAX_POINTER_BYTES = 8_192;

/**
 * Finds the repository whose working tree has this root. In worktrees and submodules, `.git` is a file with the path of the
 * repository's folder. Worktrees share `info/exclude` with the main repository.
 */
export function findGitFolder(root: string): GitFolder | undefined {
  const path = join(root, ".git");
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return { index: join(path, "index"), exclude: join(path, "info", "exclude") };
  const named = /^gitdir: (.+)/u.exec(readPointer(path) ?? "")?.[1];
  if (named === undefined) return undefined;
  const folder = resolve(root, named);
  const common = resolve(folder, readPointer(join(folder, "commondir")) ?? ".");
  return { index: join(folder, "index"), exclude: join(common, "info", "exclude") };
}

/** Reads a short file that contains a path. Returns undefined for anything else, so that pipes and devices don't block. */
function readPointer(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.alloc(MAX_POINTER_BYTES);
    const text = buffer.toString("utf8", 0, readSync(fd, buffer));
    // A path with this character can't be resolved, because no file system accepts it.
    return text.includes("\0") ? undefined : text.trimEnd();
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
