import { raceAbort } from "@codexkit/rpc/async";
import type { BigIntStats } from "node:fs";
import { type FSWatcher, watch } from "node:fs";
import { opendir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { basename, dirname, join } from "node:path";
import type { WatchedFileChange } from "../api/file.ts";
import { DaemonError } from "../errors.ts";
import { type AllowedPath, type AllowedPaths, handlePath } from "./allowed-paths.ts";
import { errorCode, toFileError } from "./file-error.ts";
import type { FileLimits } from "./limits.ts";

/**
 * Folders that change often and that users rarely look at. They are reported as entries, but their contents are not
 * watched.
 */
const SKIPPED = new Set([".git", "node_modules"]);

interface WatchedFolder {
  readonly watcher: FSWatcher;
  /** Used to detect that the path now refers to another folder. */
  readonly identity: string;
}

export interface WatchOptions {
  readonly recursive: boolean;
  readonly limits: FileLimits;
  /** The path in error messages. */
  readonly name: string;
  readonly signal: AbortSignal;
}

/**
 * Watches a file, a folder, or a folder with all its subfolders. Changes are collected while the reader is busy. If
 * there are more than the limit, the reader receives an overflow message instead.
 */
export class FileWatch implements AsyncDisposable {
  readonly #paths: AllowedPaths;
  readonly #options: WatchOptions;
  readonly #folders = new Map<string, WatchedFolder>();
  readonly #changed = new Set<string>();
  #hasOverflowed = false;
  #isComplete = true;
  #wake = Promise.withResolvers<void>();
  #top = "";
  /** The watched name, if a file is watched. Editors replace files, so the watch is on its folder. */
  #file: string | undefined;

  private constructor(paths: AllowedPaths, options: WatchOptions) {
    this.#paths = paths;
    this.#options = options;
  }

  /** Rejects with `file_not_found`, or with `wrong_file_type` for devices and pipes. */
  static async open(paths: AllowedPaths, path: string, options: WatchOptions): Promise<FileWatch> {
    const opened = new FileWatch(paths, options);
    try {
      await opened.#start(path);
      return opened;
    } catch (error) {
      await opened[Symbol.asyncDispose]();
      throw toFileError(error, options.name);
    }
  }

  /** Ends when the watched path has been removed or moved, or when the signal aborts. */
  async *changes(): AsyncGenerator<WatchedFileChange> {
    const { limits, signal } = this.#options;
    yield {
      type: "watching",
      path: this.#file === undefined ? this.#top : join(this.#top, this.#file),
      folders: this.#folders.size,
      isComplete: this.#isComplete,
    };
    while (!signal.aborted) {
      await raceAbort(this.#wake.promise, signal).catch(() => {});
      await delay(limits.collectMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      this.#wake = Promise.withResolvers();
      if (!(await this.#isStillWatched(this.#top))) {
        yield { type: "ended", path: this.#top };
        return;
      }
      const change = await this.#collect();
      if (change) yield change;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  async #start(path: string): Promise<void> {
    const { name } = this.#options;
    await using target = await this.#paths.open(path, { name });
    if (target.type === "folder") {
      this.#top = target.path;
      await this.#add(target);
      return;
    }
    if (target.type !== "file") {
      throw new DaemonError("wrong_file_type", `"${name}" is neither a file nor a folder.`);
    }
    this.#top = dirname(target.path);
    this.#file = basename(target.path);
    await using folder = await this.#paths.openFolder(this.#top, name);
    this.#watchFolder(folder);
  }

  async #collect(): Promise<WatchedFileChange | undefined> {
    const paths = [...this.#changed];
    this.#changed.clear();
    if (this.#hasOverflowed) {
      this.#hasOverflowed = false;
      return { type: "overflow", path: this.#top };
    }
    const known = await this.#ofWatchedFolders(paths);
    if (this.#options.recursive) for (const path of known) await this.#addIfFolder(path);
    return known.length === 0 ? undefined : { type: "changed", paths: known };
  }

  /** A folder that was moved elsewhere is still watched under its old path. Its entries are no longer reported. */
  async #ofWatchedFolders(paths: readonly string[]): Promise<string[]> {
    const known: string[] = [];
    for (const [folder, members] of Map.groupBy(paths, dirname)) {
      if (await this.#isStillWatched(folder)) known.push(...members);
      else this.#remove(folder);
    }
    return known.toSorted();
  }

  async #isStillWatched(folder: string): Promise<boolean> {
    const watched = this.#folders.get(folder);
    if (!watched) return false;
    try {
      await using current = await this.#paths.open(folder, { follow: false });
      return current.path === folder && identityOf(current.stats) === watched.identity;
    } catch (error) {
      if (DaemonError.is(error)) return false;
      throw error;
    }
  }

  async #addIfFolder(path: string): Promise<void> {
    if (SKIPPED.has(basename(path)) || (await this.#isStillWatched(path))) return;
    this.#remove(path);
    try {
      await using entry = await this.#paths.open(path, { follow: false });
      if (entry.type === "folder") await this.#add(entry);
    } catch (error) {
      // The entry was removed or replaced in the meantime. The watch of its folder reports that.
      if (!DaemonError.is(error)) throw error;
    }
  }

  /** Adds a folder and, if requested, its subfolders, breadth-first. Symbolic links are not followed. */
  async #add(top: AllowedPath): Promise<void> {
    this.#watchFolder(top);
    if (!this.#options.recursive) return;
    const open = [top.path];
    for (let next = open.shift(); next !== undefined && this.#isComplete; next = open.shift()) {
      for (const name of await this.#subfolders(next)) {
        const path = join(next, name);
        if (this.#folders.has(path)) continue;
        try {
          await using folder = await this.#paths.open(path, { follow: false });
          if (folder.type === "folder" && this.#watchFolder(folder)) open.push(path);
        } catch (error) {
          if (!DaemonError.is(error)) throw error;
        }
      }
    }
  }

  async #subfolders(path: string): Promise<string[]> {
    const names: string[] = [];
    try {
      await using folder = await this.#paths.openFolder(path);
      for await (const entry of await opendir(handlePath(folder.handle))) {
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) names.push(entry.name);
        if (names.length > this.#options.limits.watchedFolders) break;
      }
    } catch (error) {
      if (!DaemonError.is(toFileError(error, path))) throw error;
    }
    return names.toSorted();
  }

  #watchFolder({ handle, path, stats }: AllowedPath): boolean {
    if (this.#folders.size >= this.#options.limits.watchedFolders) {
      this.#isComplete = false;
      return false;
    }
    let watcher: FSWatcher;
    try {
      // With the dot, events of the folder itself have the name `.`, which no entry can have.
      watcher = watch(`${handlePath(handle)}/.`, { persistent: false }, (_, name) =>
        this.#onEvent(path, name),
      );
    } catch (error) {
      // The system's limit for watches is reached.
      if (errorCode(error) !== "ENOSPC") throw error;
      if (this.#folders.size === 0) {
        throw new DaemonError("too_many_connections", "The system's limit for watched folders is reached.", {
          cause: error,
        });
      }
      this.#isComplete = false;
      return false;
    }
    watcher.on("error", () => this.#onEvent(path, "."));
    this.#folders.set(path, { watcher, identity: identityOf(stats) });
    return true;
  }

  #remove(folder: string): void {
    this.#folders.get(folder)?.watcher.close();
    this.#folders.delete(folder);
  }

  #onEvent(folder: string, name: string | null): void {
    if (name !== null && name !== "." && (this.#file === undefined || name === this.#file)) {
      const path = join(folder, name);
      const hasSpace = this.#changed.size < this.#options.limits.changedPaths;
      if (hasSpace || this.#changed.has(path)) this.#changed.add(path);
      else this.#hasOverflowed = true;
    } else if (name !== "." && name !== null) {
      return;
    }
    this.#wake.resolve();
  }
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
