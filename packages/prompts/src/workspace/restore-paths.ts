import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ContentFile } from "./content-file.ts";
import { createIgnoreTest, type SavedRules } from "./ignore-rules.ts";
import type { SavedEntry } from "./journal.ts";
import { openFolder, type OpenFolder } from "./open-folder.ts";
import type { FileVersion, TreeEntry } from "./tree-entry.ts";

/** The result of a restore. */
export interface RestoreReport {
  readonly restored: readonly string[];
  /** Paths that were not restored, because something else may have changed them or has taken their place. */
  readonly conflicts: readonly string[];
}

interface RestoreTask {
  readonly root: string;
  readonly contents: ContentFile;
  readonly paths: readonly string[];
  readonly current: ReadonlyMap<string, TreeEntry>;
  /** Returns the state that a path must have, or undefined if it must not exist. */
  readonly target: (path: string) => SavedEntry | undefined;
  /** Whether a file has the content of a saved entry. */
  readonly hasContent: (path: string, version: FileVersion, entry: SavedEntry) => boolean;
  readonly mayRestore: (path: string) => boolean;
  /** The ignore rules at the time of the target state. Paths that they ignore are not touched, even if the rules have changed. */
  readonly rules: SavedRules;
}

/** Restores paths. First removes everything that must not exist, deepest paths first, and then creates the rest. */
export function restorePaths(task: RestoreTask): RestoreReport {
  const differing = withoutIgnored(
    task,
    task.paths.filter((path) => differs(task, path)),
  );
  const conflicts = new Set(differing.filter((path) => !task.mayRestore(path)));
  const restorable = differing.filter((path) => !conflicts.has(path)).toSorted();
  const attempt = (path: string, change: () => void): void => {
    try {
      change();
    } catch {
      // The path is obstructed by something that snapshots don't cover, such as a folder with ignored files.
      conflicts.add(path);
    }
  };
  for (const path of restorable.toReversed()) {
    attempt(path, () => removeObstacle(task, path));
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

/** Removes ignored paths. A path that is not in the snapshot may have been ignored by it. */
function withoutIgnored(
  { current, target, rules }: RestoreTask,
  paths: readonly string[],
): readonly string[] {
  if (rules.size === 0 || paths.every(target)) return paths;
  const wasIgnored = createIgnoreTest(rules);
  return paths.filter((path) => target(path) ?? !wasIgnored(path, current.get(path)?.type === "folder"));
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

/** Error codes for a folder that does not exist or was replaced by a file or a link. */
const NO_FOLDER_CODES: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

function removeObstacle({ root, target }: RestoreTask, path: string): void {
  using parent = openParent(root, path);
  // Nothing below a file or a link belongs to the workspace. The file or link itself is removed later.
  if (!parent) return;
  const absolute = join(parent.path, basename(path));
  const stats = lstatSync(absolute, { throwIfNoEntry: false });
  const then = target(path);
  if (!stats) return;
  if (stats.isDirectory()) {
    if (then?.type !== "folder") removeFolder(absolute, then !== undefined);
    return;
  }
  // A file is replaced atomically when it is written again.
  if (then?.type !== "file") unlinkSync(absolute);
}

function openParent(root: string, path: string): OpenFolder | undefined {
  try {
    return openFolder(root, dirname(path));
  } catch (error) {
    if (NO_FOLDER_CODES.has((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Removes a folder. If it contains ignored files, it is kept, which is a conflict if something else must replace it. */
function removeFolder(path: string, isReplaced: boolean): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (isReplaced || (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  }
}

function create({ root, contents }: RestoreTask, path: string, entry: SavedEntry): void {
  using parent = openFolder(root, dirname(path), { create: true });
  const absolute = join(parent.path, basename(path));
  if (entry.type === "folder") {
    mkdirSync(absolute, { recursive: true });
    setFolderMode(absolute, entry.mode);
  } else if (entry.type === "link") {
    if (!isLinkTo(absolute, entry.target)) symlinkSync(entry.target, absolute);
  } else {
    const unfinished = join(parent.path, `.codexkit-restore-${crypto.randomUUID()}`);
    try {
      const fd = openSync(unfinished, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, entry.mode);
      try {
        contents.copyTo(entry.content, fd);
        fchmodSync(fd, entry.mode);
      } finally {
        closeSync(fd);
      }
      renameSync(unfinished, absolute);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
  }
}

/** Uses a descriptor, because a path would follow a link. Only the mode of an unreadable folder must be set by its path. */
function setFolderMode(path: string, mode: number): void {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES" || !lstatSync(path).isDirectory()) throw error;
    chmodSync(path, mode);
    return;
  }
  try {
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

function isLinkTo(path: string, target: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isSymbolicLink() === true && readlinkSync(path) === target;
}
