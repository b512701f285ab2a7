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

/** The paths of a workspace that snapshots cover, relative to its root, and those that they can't. */
export interface Tree {
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** Sockets, pipes, devices, and what can't be read or named. */
  readonly unsupported: readonly string[];
  /** Paths that were added, changed or removed since the scan before. */
  readonly changed: ReadonlySet<string>;
  /** What was ignored. */
  readonly rules: SavedRules;
}

/** The covered children of a folder. */
interface Listing {
  readonly paths: readonly string[];
  readonly hasRules: boolean;
  /** Undefined if the listing must be read again at the next scan. */
  readonly version: FileVersion | undefined;
  /** Revision of the ignore rules that the children were tested with. */
  readonly revision: number;
}

/** Could not be looked up or read. */
const FAILED = "failed";

/** Share of the paths by which the pool's may differ before the pool is updated. */
const MAX_POOL_DRIFT = 0.1;

/** Entries between two checks of the clock. */
const CLOCK_INTERVAL = 64;

/**
 * Magic numbers of Linux file systems that change a folder's times with every name that is added to it or removed from it:
 * ext, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs and bcachefs. Others, such as FUSE and network file systems, may not.
 */
const RELIABLE_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

/**
 * Finds the names and versions of all files that are not ignored, but reads no content.
 *
 * Every scan asks for the version of every path, because a file that is changed in place leaves no trace in its folder. Only
 * the names in a folder are taken from the scan before, and only if the folder's times and inode are the same, were not set in the
 * tick of the clock in which the folder was read, and the file system is known to maintain them.
 *
 * Synchronous calls are four times as fast as asynchronous ones here, so a scan runs in short slices and lets the event loop
 * work between them.
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
  /** Paths that were added since the pool was given its paths. */
  #unpooled: readonly string[] = [];

  /** @param root A real path, without links. */
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
    // A command that may write beside the workspace can replace its root by a link to files that are none of its business.
    if (realpathSync(this.#root) !== this.#root) throw replacedRoot(this.#root);
    await this.#rules.refresh();
    const run = await this.#pool?.stat();
    const listings = this.#listings;
    // If the walk fails, its changes must not be missed: without listings, the next scan walks the tree as well.
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
   * Applies the changes since the scan before, if only the content or the mode of files has changed. Otherwise, or if that can't be
   * known, returns undefined, and the tree must be walked.
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

    /** Returns the stats of a folder, whose children are to be added too. */
    const add = (path: string): PathStats | undefined => {
      const stats = this.#statsOf(path, run);
      if (!stats || stats === FAILED) {
        // Names that are not UTF-8 are listed with replacement characters, under which no file can be found.
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
          `The workspace has more than ${this.#maxFiles} files. Ignore generated ones in .gitignore.`,
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
      // Behind a link that replaced a folder above it lies another file.
      const isInFolders = parentsOf(path).every((folder) => entries.get(folder)?.type === "folder");
      if (isInFolders && !entries.has(path)) add(path);
    }
    // Usually every known path still exists, and there is nothing to look for.
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

  /** Large trees are looked up on several threads. */
  #updatePool(): void {
    if (this.#entries.size < this.#parallelFiles) return;
    this.#pool ??= new StatPool(this.#root);
    const pool = this.#pool;
    this.#unpooled = [...this.#entries.keys()].filter((path) => !pool.has(path));
    const gone = pool.paths.length + this.#unpooled.length - this.#entries.size;
    // A new list of paths has to be sent to every thread, so a few new ones are looked up by this thread.
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
    // git's own folder, or the file that points to it, belongs to git.
    if (entry.name === ".git") return [];
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    return this.#rules.isIgnored(entry.isDirectory() ? `${path}/` : path) ? [] : [path];
  }
}

function hasVersion({ version }: Listing, stats: PathStats): boolean {
  return version !== undefined && isSameVersion(version, toVersion(stats));
}

/** A tracked file may lie in an ignored folder, which must exist when the file is restored. */
function parentsOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, depth) => names.slice(0, depth + 1).join("/"));
}

/** The names in a folder can be read without the right to look up what they are. */
function lstatPath(root: string, path: string): PathStats | undefined | typeof FAILED {
  try {
    // Not joined: a workspace has thousands of paths, and these are already normal.
    return lstatSync(`${root}/${path}`, { throwIfNoEntry: false });
  } catch {
    return FAILED;
  }
}

/** A link may be replaced after it was looked up. The next scan finds what has its place. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EINVAL" || code === "ENOENT" || code === "ENOTDIR") return "";
    throw error;
  }
}

/** A folder may vanish between its parent's listing and its own. */
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
