import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { ContentFile } from "./content-file.ts";
import type { SavedEntry } from "./journal.ts";
import type { FileVersion, TreeEntry } from "./tree-entry.ts";

/** What a restore did. */
export interface RestoreReport {
  readonly restored: readonly string[];
  /** Paths that were left as they are, because something else may have changed them or is in their place. */
  readonly conflicts: readonly string[];
}

interface RestoreTask {
  readonly root: string;
  readonly contents: ContentFile;
  readonly paths: readonly string[];
  readonly current: ReadonlyMap<string, TreeEntry>;
  /** What a path must become; undefined if it must not exist. */
  readonly target: (path: string) => SavedEntry | undefined;
  /** Whether a file has the content of a saved entry. */
  readonly hasContent: (path: string, version: FileVersion, entry: SavedEntry) => boolean;
  readonly mayRestore: (path: string) => boolean;
}

/** Brings paths back to what they were: first everything is removed that must not exist, deepest first, then the rest is made. */
export function restorePaths(task: RestoreTask): RestoreReport {
  const differing = task.paths.filter((path) => differs(task, path));
  const conflicts = new Set(differing.filter((path) => !task.mayRestore(path)));
  const restorable = differing.filter((path) => !conflicts.has(path)).toSorted();
  const attempt = (path: string, change: () => void): void => {
    try {
      change();
    } catch {
      // Something that snapshots don't cover is in the way, such as a folder with ignored files.
      conflicts.add(path);
    }
  };
  for (const path of restorable.toReversed()) {
    // Below a file or a link nothing belongs to the workspace; the file or link itself is removed later.
    if (hasRealParent(task.root, path)) attempt(path, () => removeObstacle(task, path));
  }
  for (const path of restorable) {
    const target = task.target(path);
    if (target && !conflicts.has(path)) attempt(path, () => create(task, path, target));
  }
  return {
    restored: restorable.filter((path) => !conflicts.has(path)),
    conflicts: [...conflicts].toSorted(),
  };
}

function differs({ current, target, hasContent }: RestoreTask, path: string): boolean {
  const now = current.get(path);
  const then = target(path);
  if (now === undefined || then === undefined) return now !== then;
  if (now.type !== then.type) return true;
  if (now.type === "link") return now.target !== (then as { target: string }).target;
  if (now.mode !== (then as { mode: number }).mode) return true;
  return now.type === "file" && !hasContent(path, now.version, then);
}

/** Whether the folder above a path, as far as it exists, is a real one where its name says: no file, and no link leads to it. */
function hasRealParent(root: string, path: string): boolean {
  const realRoot = realpathSync(root);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (folder === ".") return true;
    const stats = lstatSync(join(root, folder), { throwIfNoEntry: false });
    if (stats) {
      if (stats.isFile()) return false;
      try {
        return realpathSync(join(root, folder)) === join(realRoot, folder);
      } catch {
        return false;
      }
    }
  }
}

function removeObstacle({ root, target }: RestoreTask, path: string): void {
  const absolute = join(root, path);
  const stats = lstatSync(absolute, { throwIfNoEntry: false });
  const then = target(path);
  if (!stats) return;
  if (stats.isDirectory()) {
    if (then?.type !== "folder") removeFolder(absolute, then !== undefined);
    return;
  }
  // A file is replaced in one step when it is written again.
  if (then?.type !== "file") unlinkSync(absolute);
}

/** Folders that still hold ignored files stay, unless something else must take their place: then that is a conflict. */
function removeFolder(path: string, isReplaced: boolean): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (isReplaced || (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  }
}

function create({ root, contents }: RestoreTask, path: string, entry: SavedEntry): void {
  if (!hasRealParent(root, path)) throw new Error(`A link leads from ${path} out of the workspace.`);
  const absolute = join(root, path);
  mkdirSync(dirname(absolute), { recursive: true });
  if (entry.type === "folder") {
    mkdirSync(absolute, { recursive: true });
    chmodSync(absolute, entry.mode);
  } else if (entry.type === "link") {
    if (!isLinkTo(absolute, entry.target)) symlinkSync(entry.target, absolute);
  } else {
    const unfinished = join(dirname(absolute), `.codexkit-restore-${crypto.randomUUID()}`);
    try {
      const fd = openSync(unfinished, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, entry.mode);
      try {
        contents.copyTo(entry.content, fd);
      } finally {
        closeSync(fd);
      }
      chmodSync(unfinished, entry.mode);
      renameSync(unfinished, absolute);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
  }
}

function isLinkTo(path: string, target: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isSymbolicLink() === true && readlinkSync(path) === target;
}
