import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** Maximum size of a Git file that contains a path. Such files are one line long. */
const MAX_POINTER_BYTES = 64 * 1024;

/** No system accepts a longer path. */
const MAX_PATH = 4096;

/**
 * Returns a folder and its ancestors, nearest first. Skips paths that are too long to exist, because a client
 * may send any path.
 */
export function ancestors(folder: string): string[] {
  const found: string[] = [];
  for (let at = folder, below = ""; at !== below; below = at, at = dirname(at)) {
    if (at.length <= MAX_PATH) found.push(at);
  }
  return found;
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Resolves symbolic links. Returns the path unchanged if it does not exist. */
export async function canonical(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/**
 * Whether this path marks a checkout. A `.git` folder without `HEAD` does not: anyone can create an empty
 * one.
 */
export async function isGitMark(path: string): Promise<boolean> {
  return (await isFolder(path)) ? exists(join(path, "HEAD")) : exists(path);
}

/** Finds the nearest checkout that contains a folder. */
export async function checkoutRoot(cwd: string): Promise<string | undefined> {
  const base = (await isFolder(cwd)) ? cwd : dirname(cwd);
  for (const folder of ancestors(base)) if (await isGitMark(join(folder, ".git"))) return folder;
  return undefined;
}

/**
 * Finds the main checkout: the given one itself, or for a linked worktree the one that it was created from.
 */
export async function mainCheckout(checkout: string): Promise<string | undefined> {
  const mark = join(checkout, ".git");
  if (await isFolder(mark)) return checkout;
  try {
    const gitFolder = await pointedTo(mark, checkout, /^gitdir:\s*/);
    if (!(await lstat(gitFolder)).isDirectory()) return undefined;
    const realGitFolder = await realpath(gitFolder);
    const worktrees = dirname(realGitFolder);
    if (basename(worktrees) !== "worktrees") return undefined;
    // Anyone can write a `.git` file that points into a trusted repository. Only that repository can point back.
    const back = await pointedTo(join(realGitFolder, "gitdir"), realGitFolder);
    const common = await pointedTo(join(realGitFolder, "commondir"), realGitFolder);
    const main = dirname(dirname(dirname(gitFolder)));
    const belongs =
      basename(back) === ".git" &&
      (await realpath(dirname(back))) === (await realpath(checkout)) &&
      (await realpath(common)) === dirname(worktrees) &&
      (await realpath(join(main, ".git"))) === dirname(worktrees);
    return belongs ? main : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a file that contains the path of a folder, and resolves that path relative to `from`. */
async function pointedTo(file: string, from: string, prefix = /^/): Promise<string> {
  const found = await lstat(file);
  if (!found.isFile() || found.size > MAX_POINTER_BYTES) throw new Error(`${file} is not a small file.`);
  const text = (await readFile(file, "utf8")).trim();
  const path = text.replace(prefix, "");
  if (path === "" || !prefix.test(text)) throw new Error(`${file} does not contain the path of a folder.`);
  return resolve(from, path);
}
