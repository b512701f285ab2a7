import { type Dirent, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { PromptError } from "../errors.ts";
import type { IgnoreRules } from "./ignore-rules.ts";
import { WORKSPACE_LIMITS } from "./limits.ts";
import { toFileEntry, toFolderEntry, type TreeEntry } from "./tree-entry.ts";

/** The paths of a workspace that snapshots cover, relative to its root, and those that they can't. */
export interface Tree {
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** Sockets, pipes and devices. */
  readonly unsupported: readonly string[];
}

/** Entries between two looks at the clock. */
const CLOCK_INTERVAL = 64;

/**
 * Reads the names and versions of all files that are not ignored, but no content. Synchronous calls are four times as fast
 * as asynchronous ones here, so the scan runs in short slices and lets the event loop work between them.
 */
export async function scanTree(
  root: string,
  rules: IgnoreRules,
  maxFiles = WORKSPACE_LIMITS.files,
): Promise<Tree> {
  await rules.refresh();
  const entries = new Map<string, TreeEntry>();
  const unsupported: string[] = [];
  const folders = [""];
  let sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;

  const add = (path: string): void => {
    // Not joined: a workspace has thousands of paths, and these are already normal.
    const stats = lstatSync(`${root}/${path}`, { throwIfNoEntry: false });
    if (!stats) return;
    if (stats.isFile()) entries.set(path, toFileEntry(stats));
    else if (stats.isSymbolicLink())
      entries.set(path, { type: "link", target: readlinkSync(join(root, path)) });
    else if (stats.isDirectory()) entries.set(path, toFolderEntry(stats));
    else unsupported.push(path);
    if (entries.size > maxFiles) {
      throw new PromptError(
        "workspace_too_large",
        `The workspace has more than ${maxFiles} files. Ignore generated ones in .gitignore.`,
      );
    }
  };

  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const names = readFolder(join(root, folder));
    rules.enterFolder(
      folder,
      names.some(({ name }) => name === ".gitignore"),
    );
    for (const name of names) {
      // git's own folder, or the file that points to it, belongs to git.
      if (name.name === ".git") continue;
      const path = folder === "" ? name.name : `${folder}/${name.name}`;
      const isFolder = name.isDirectory();
      if (!rules.isEmpty && rules.isIgnored(isFolder ? `${path}/` : path)) continue;
      add(path);
      if (isFolder) folders.push(path);
      if (entries.size % CLOCK_INTERVAL === 0 && performance.now() > sliceEnd) {
        await setImmediate();
        sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;
      }
    }
  }
  for (const path of rules.trackedFiles) {
    addParents(path, add, entries);
    add(path);
  }
  return { entries, unsupported };
}

/** A tracked file may lie in an ignored folder, which must exist when the file is restored. */
function addParents(
  path: string,
  add: (path: string) => void,
  entries: ReadonlyMap<string, TreeEntry>,
): void {
  const names = path.split("/").slice(0, -1);
  for (let depth = 1; depth <= names.length; depth += 1) {
    const folder = names.slice(0, depth).join("/");
    if (!entries.has(folder)) add(folder);
  }
}

/** A folder may vanish between its parent's listing and its own. */
function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
