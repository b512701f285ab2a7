import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { PromptError } from "../errors.ts";
import { IgnoreRules, type SavedRules } from "./ignore-rules.ts";
import { WORKSPACE_LIMITS } from "./limits.ts";
import { replacedRoot } from "./open-folder.ts";
import type { PathStats } from "./stat-batch.ts";
import { StatPool, type StatRun } from "./stat-pool.ts";
import {
  isRecent,
  isSameVersion,
  toEntry,
  toVersion,
  type FileVersion,
  type TreeEntry,
} from "./tree-entry.ts";

/** The paths of a workspace that snapshots cover, relative to its root, and those that they can't cover. */
export interface Tree {
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** Sockets, pipes, devices, and paths that can't be read or whose name is not UTF-8. */
  readonly unsupported: readonly string[];
  /** Paths that were added, changed or removed since the previous scan. */
  readonly changed: ReadonlySet<string>;
  /** The ignore rules that were applied. */
  readonly rules: SavedRules;
}

/** The covered children of a folder. */
interface Listing {
  readonly paths: readonly string[];
  readonly hasRules: boolean;
  /** Undefined if the next scan must read the listing again. */
  readonly version: FileVersion | undefined;
  /** Revision of the ignore rules that were applied to the children. */
  readonly revision: number;
}

/** The path could not be looked up or read. */
const FAILED = "failed";

/** Fraction of the paths by which the pool may differ before it is updated. */
const MAX_POOL_DRIFT = 0.1;

/** Entries between two checks of the clock. */
const CLOCK_INTERVAL = 64;

/**
 * Magic numbers of Linux file systems that update a folder's times whenever a name is added or removed: ext, xfs, btrfs, tmpfs,
 * overlayfs, zfs, f2fs and bcachefs. Others, such as FUSE and network file systems, may not.
 */
const RELIABLE_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

/**
 * Finds the names and versions of all files that are not ignored, but reads no content.
 *
 * Every scan looks up the version of every path, because changing a file in place leaves no trace in its folder. Only a folder's
 * names are reused from the previous scan, and only if its times and inode are unchanged, the times were not set in the clock tick
 * in which the folder was read, and the file system is known to maintain them.
 *
 * Synchronous calls are four times as fast as asynchronous ones here, so a scan uses them in short slices and lets the event loop
 * run in between.
 */
export class TreeScanner implements Disposable {
  readonly #root: string;
  readonly #maxFiles: number;
  readonly #rules: IgnoreRules;
  readonly #device: number;
  readonly #hasReliableTimes: boolean;
  readonly #parallelFiles: number;
  #listings: ReadonlyMap<string, Listing> = new Map();
  #entries = new Map<string, TreeEntry>();
  #unsupported: readonly string[] = [];
  #pool: StatPool | undefined;
  /** Paths that were added since the pool received its paths. */
  #unpooled: readonly string[] = [];

  /** @param root A real path without links. */
  constructor(root: string, options: { readonly maxFiles?: number; readonly parallelFiles?: number } = {}) {
    this.#root = root;
    this.#maxFiles = options.maxFiles ?? WORKSPACE_LIMITS.files;
    this.#parallelFiles = options.parallelFiles ?? WORKSPACE_LIMITS.parallelFiles;
    this.#rules = new IgnoreRules(root);
    this.#device = lstatSync(root).dev;
    this.#hasReliableTimes = process.platform === "linux" && RELIABLE_FILE_SYSTEMS.has(statfsSync(root).type);
  }

  /** Scans must not overlap. */
  async scan(): Promise<Tree> {
    // A command that may write next to the workspace could replace its root with a link to unrelated files.
    if (realpathSync(this.#root) !== this.#root) throw replacedRoot(this.#root);
    await this.#rules.refresh();
    const run = await this.#pool?.stat();
    const listings = this.#listings;
    // If the walk fails, its changes must not be missed. Without listings, the next scan walks the tree too.
    this.#listings = new Map();
    const changed = (run && this.#applyChanges(run, listings)) ?? (await this.#walk(run, listings));
    return {
      entries: this.#entries,
      unsupported: this.#unsupported,
      changed,
      rules: this.#rules.save(),
    };
  }

  [Symbol.dispose](): void {
    this.#pool?.[Symbol.dispose]();
  }

  /**
   * Applies the changes since the previous scan if only the content or mode of files has changed. Otherwise, or if unknown,
   * returns undefined, and the tree must be walked.
   */
  #applyChanges(run: StatRun, listings: ReadonlyMap<string, Listing>): ReadonlySet<string> | undefined {
    if (!run.changed || !this.#isCurrent(listings, run)) return undefined;
    const changes = new Map<string, TreeEntry>();
    for (const path of [...run.changed, ...this.#unpooled]) {
      const previous = this.#entries.get(path);
      const stats = this.#statsOf(path, run);
      if (!previous || !stats || stats === FAILED) return undefined;
      const entry = this.#toEntry(path, stats, previous);
      if (entry?.type !== previous.type) return undefined;
      if (entry !== previous) changes.set(path, entry);
    }
    for (const [path, entry] of changes) this.#entries.set(path, entry);
    this.#listings = listings;
    return new Set(changes.keys());
  }

  #isCurrent(listings: ReadonlyMap<string, Listing>, run: StatRun): boolean {
    const { revision } = this.#rules;
    for (const [folder, listing] of listings) {
      const stats = folder === "" ? lstatSync(this.#root) : this.#statsOf(folder, run);
      if (!stats || stats === FAILED || !hasVersion(listing, stats)) return false;
      if (listing.hasRules) this.#rules.enterFolder(folder, true);
      if (listing.revision !== revision || this.#rules.revision !== revision) return false;
    }
    return listings.size > 0;
  }

  async #walk(run: StatRun | undefined, known: ReadonlyMap<string, Listing>): Promise<ReadonlySet<string>> {
    const entries = new Map<string, TreeEntry>();
    const listings = new Map<string, Listing>();
    const unsupported: string[] = [];
    const changed = new Set<string>();
    const folders: [path: string, stats: PathStats][] = [["", lstatSync(this.#root)]];
    let seen = 0;
    let sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;

    /** Adds a path. For a folder, returns its stats, so that the caller adds its children. */
    const add = (path: string): PathStats | undefined => {
      const stats = this.#statsOf(path, run);
      if (!stats || stats === FAILED) {
        // Names that are not UTF-8 are listed with replacement characters, so no file can be found under them.
        if (stats === FAILED || path.includes("\uFFFD")) unsupported.push(path);
        return undefined;
      }
      const previous = this.#entries.get(path);
      const entry = this.#toEntry(path, stats, previous);
      if (previous) seen += 1;
      if (entry !== previous) changed.add(path);
      if (entry) entries.set(path, entry);
      else unsupported.push(path);
      if (entries.size > this.#maxFiles) {
        throw new PromptError(
          "workspace_too_large",
          `The workspace has more than ${this.#maxFiles} files. Ignore generated files in .gitignore.`,
        );
      }
      return entry?.type === "folder" ? stats : undefined;
    };

    for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
      const [folder, folderStats] = next;
      const listing = this.#list(folder, folderStats, known.get(folder));
      if (listing === FAILED) {
        unsupported.push(folder);
        continue;
      }
      listings.set(folder, listing);
      for (const path of listing.paths) {
        const stats = add(path);
        if (stats) folders.push([path, stats]);
        if (entries.size % CLOCK_INTERVAL === 0 && performance.now() > sliceEnd) {
          await setImmediate();
          sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;
        }
      }
    }
    for (const path of this.#rules.trackedFiles) {
      for (const folder of parentsOf(path)) if (!entries.has(folder)) add(folder);
      // If a link has replaced a parent folder, the path leads to a different file.
      const isInFolders = parentsOf(path).every((folder) => entries.get(folder)?.type === "folder");
      if (isInFolders && !entries.has(path)) add(path);
    }
    // Usually all known paths still exist, so there is nothing to search.
    if (seen < this.#entries.size) {
      for (const path of this.#entries.keys()) if (!entries.has(path)) changed.add(path);
    }
    this.#listings = listings;
    this.#entries = entries;
    this.#unsupported = unsupported;
    this.#updatePool();
    return changed;
  }

  #statsOf(path: string, run: StatRun | undefined): PathStats | undefined | typeof FAILED {
    const found = run?.statsOf(path) ?? FAILED;
    return found === FAILED ? lstatPath(this.#root, path) : found;
  }

  #toEntry(path: string, stats: PathStats, previous: TreeEntry | undefined): TreeEntry | undefined {
    return toEntry(stats, previous, () => readLink(join(this.#root, path)));
  }

  /** Updates the pool, which looks up large trees on several threads. */
  #updatePool(): void {
    if (this.#entries.size < this.#parallelFiles) return;
    this.#pool ??= new StatPool(this.#root);
    const pool = this.#pool;
    this.#unpooled = [...this.#entries.keys()].filter((path) => !pool.has(path));
    const gone = pool.paths.length + this.#unpooled.length - this.#entries.size;
    // A new list must be sent to every thread, so this thread looks up a few new paths itself.
    if (this.#unpooled.length + gone <= this.#entries.size * MAX_POOL_DRIFT && pool.paths.length > 0) return;
    pool.setPaths([...this.#entries.keys()]);
    this.#unpooled = [];
  }

  #list(folder: string, stats: PathStats, known: Listing | undefined): Listing | typeof FAILED {
    const version = toVersion(stats);
    if (known && hasVersion(known, stats)) {
      this.#rules.enterFolder(folder, known.hasRules);
      if (known.revision === this.#rules.revision) return known;
    }
    const names = readFolder(join(this.#root, folder));
    if (names === FAILED) return FAILED;
    const hasRules = names.some(({ name }) => name === ".gitignore");
    this.#rules.enterFolder(folder, hasRules);
    const isReliable = this.#hasReliableTimes && stats.dev === this.#device && !isRecent(version);
    return {
      paths: names.flatMap((entry) => this.#toCoveredPath(folder, entry)),
      hasRules,
      version: isReliable ? version : undefined,
      revision: this.#rules.revision,
    };
  }

  #toCoveredPath(folder: string, entry: Dirent): readonly string[] {
    // Git's own folder, or the file that points to it, is not covered.
    if (entry.name === ".git") return [];
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    return this.#rules.isIgnored(entry.isDirectory() ? `${path}/` : path) ? [] : [path];
  }
}

function hasVersion({ version }: Listing, stats: PathStats): boolean {
  return version !== undefined && isSameVersion(version, toVersion(stats));
}

/** Returns a path's parent folders. A tracked file's may be ignored but must exist when the file is restored. */
function parentsOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, depth) => names.slice(0, depth + 1).join("/"));
}

/** Looks up a path. May fail for a listed name, because listing and looking up need different permissions. */
function lstatPath(root: string, path: string): PathStats | undefined | typeof FAILED {
  try {
    // `join` would be slower, and these paths are already normalised.
    return lstatSync(`${root}/${path}`, { throwIfNoEntry: false });
  } catch {
    return FAILED;
  }
}

/** Reads a link, which may have been replaced since it was looked up. If so, the next scan finds its replacement. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EINVAL" || code === "ENOENT" || code === "ENOTDIR") return "";
    throw error;
  }
}

/** Lists a folder, which may have been removed since its parent was listed. */
function readFolder(path: string): readonly Dirent[] | typeof FAILED {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    if (code === "EACCES" || code === "EPERM") return FAILED;
    throw error;
  }
}
