import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { join, resolve } from "node:path";

/** Files of a git repository that decide what is ignored. */
export interface GitFolder {
  readonly index: string;
  readonly exclude: string;
}

/** Paths are shorter than this on every system. */
const MAX_POINTER_BYTES = 8_192;

/**
 * Finds the repository whose working tree starts at a folder. In worktrees and submodules, `.git` is a file that names the
 * repository's folder; worktrees share `info/exclude` with the main one.
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

/** Reads a short file with a path in it. Undefined for anything else: pipes and devices must not block. */
function readPointer(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.alloc(MAX_POINTER_BYTES);
    const text = buffer.toString("utf8", 0, readSync(fd, buffer));
    // The path would otherwise be resolved with a character that no file system accepts.
    return text.includes("\0") ? undefined : text.trimEnd();
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
