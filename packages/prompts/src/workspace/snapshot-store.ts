import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { SerialQueue } from "@codexkit/rpc/async";
import { ContentFile, hashFile } from "./content-file.ts";
import { PromptError } from "../errors.ts";
import type { SavedRules } from "./ignore-rules.ts";
import { Journal, type SavedEntry } from "./journal.ts";
import { WORKSPACE_LIMITS } from "./limits.ts";
import { restorePaths, type RestoreReport } from "./restore-paths.ts";
import { type FileVersion, isRecent, isSameVersion, toVersion, type TreeEntry } from "./tree-entry.ts";
import { type Tree, TreeScanner } from "./tree-scanner.ts";

/** The state of a workspace at one point in time. Valid while the workspace is open. */
export interface WorkspaceSnapshot {
  readonly version: number;
  /** Paths that are not covered: sockets, pipes, devices, and files that can't be read or that changed while being read. */
  readonly uncovered: readonly string[];
}

export interface RestoreOptions {
  /** Whether a changed path may be overwritten. If not, it is reported as a conflict. Default: all paths may be. */
  readonly mayRestore?: (path: string) => boolean;
}

/**
 * Snapshots of a folder. The first one stores the content of every file that is not ignored; later ones compare versions
 * (size, times, inode) and read only what has changed.
 */
export class SnapshotStore implements Disposable {
  readonly #root: string;
  readonly #scanner: TreeScanner;
  readonly #contents: ContentFile;
  readonly #journal: Journal;
  readonly #saved = new Map<string, SavedEntry>();
  /** Per version, the previous state of its changed paths. Undoing versions from the end leads back to any earlier one. */
  readonly #undo: ReadonlyMap<string, SavedEntry | undefined>[] = [];
  /** Paths whose current state is not saved, or whose version can't be trusted yet because they have just changed. */
  readonly #changed = new Set<string>();
  /** The ignore rules of each snapshot. */
  readonly #rules = new WeakMap<WorkspaceSnapshot, SavedRules>();
  /** Concurrent scans would record their changes in the wrong order. */
  readonly #scans = new SerialQueue();

  constructor(root: string, stateFolder: string) {
    this.#root = root;
    mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
    this.#scanner = new TreeScanner(root);
    this.#contents = new ContentFile(join(stateFolder, "contents"));
    this.#journal = new Journal(join(stateFolder, "journal.jsonl"));
  }

  /** Paths and contents at the last snapshot, for fingerprints. */
  get saved(): ReadonlyMap<string, SavedEntry> {
    return this.#saved;
  }

  async take(): Promise<WorkspaceSnapshot> {
    return this.#scans.run(async () => {
      const { entries, unsupported, rules } = await this.#scan();
      const uncovered = [...unsupported];
      const changes = this.#openVersion();
      let sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;
      try {
        for (const path of this.#changed) {
          const entry = await this.#save(path, entries.get(path));
          if (entry === "unreadable") uncovered.push(path);
          changes.set(path, entry === "unreadable" ? undefined : entry);
          if (performance.now() > sliceEnd) {
            await setImmediate();
            sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;
          }
        }
      } finally {
        // Also after a failure, because the journal must contain every path that counts as saved.
        changes.write();
      }
      const snapshot: WorkspaceSnapshot = { version: this.#undo.length, uncovered };
      this.#rules.set(snapshot, rules);
      return snapshot;
    });
  }

  /**
   * Restores a snapshot. Writes only paths that differ, and never touches ignored paths.
   * @throws {PromptError} `invalid_snapshot` for another workspace's snapshot, which would remove all files of this one
   */
  async restore(
    snapshot: WorkspaceSnapshot,
    { mayRestore = () => true }: RestoreOptions = {},
  ): Promise<RestoreReport> {
    const rules = this.#rulesOf(snapshot);
    return this.#scans.run(async () => {
      const changedSince = this.#entriesAt(snapshot.version);
      const { entries } = await this.#scan();
      const uncovered = new Set(snapshot.uncovered);
      const target = (path: string): SavedEntry | undefined =>
        changedSince.has(path) ? changedSince.get(path) : this.#saved.get(path);
      const candidates = new Set([...this.#changed, ...changedSince.keys()]);
      const report = restorePaths({
        root: this.#root,
        contents: this.#contents,
        paths: [...candidates].filter((path) => !uncovered.has(path)),
        current: entries,
        target,
        hasContent: (path, now, content) => this.#hasContent(path, now, content),
        mayRestore,
        rules,
      });
      this.#saveRestored(report.restored, target);
      return report;
    });
  }

  /** Marks the start of a transaction, so that a process that finds it unfinished can restore this snapshot. */
  begin(snapshot: WorkspaceSnapshot): void {
    const { version, uncovered } = snapshot;
    this.#journal.write({ begin: version, uncovered: [...uncovered], rules: [...this.#rulesOf(snapshot)] });
  }

  end(snapshot: WorkspaceSnapshot): void {
    this.#journal.write({ end: snapshot.version });
  }

  [Symbol.dispose](): void {
    this.#scanner[Symbol.dispose]();
    this.#contents[Symbol.dispose]();
    this.#journal[Symbol.dispose]();
  }

  #rulesOf(snapshot: WorkspaceSnapshot): SavedRules {
    const rules = this.#rules.get(snapshot);
    if (rules) return rules;
    throw new PromptError(
      "invalid_snapshot",
      "The snapshot does not belong to this workspace. Pass an object that its snapshot() returned.",
    );
  }

  async #save(path: string, entry: TreeEntry | undefined): Promise<SavedEntry | undefined | "unreadable"> {
    if (entry?.type !== "file") {
      this.#changed.delete(path);
      return entry;
    }
    const stored = await this.#contents.store(join(this.#root, path));
    if (!stored) return "unreadable";
    if (!isRecent(stored.version)) this.#changed.delete(path);
    return { ...entry, version: stored.version, content: stored.content };
  }

  /** Records restored paths, which have the snapshot's content but new versions. */
  #saveRestored(paths: readonly string[], target: (path: string) => SavedEntry | undefined): void {
    const changes = this.#openVersion();
    for (const path of paths) {
      const entry = target(path);
      const stats = entry && lstatSync(join(this.#root, path), { throwIfNoEntry: false });
      // The next scan reports these paths as changed, so they are checked again.
      changes.set(path, entry?.type === "file" && stats ? { ...entry, version: toVersion(stats) } : entry);
    }
    changes.write();
  }

  /** Starts a version. It is added with its first change, so that changes before a failure can still be undone. */
  #openVersion(): { set(path: string, entry: SavedEntry | undefined): void; write(): void } {
    const undo = new Map<string, SavedEntry | undefined>();
    const lines: [string, SavedEntry | null][] = [];
    return {
      set: (path, entry) => {
        if (undo.size === 0) this.#undo.push(undo);
        undo.set(path, this.#saved.get(path));
        if (entry) this.#saved.set(path, entry);
        else this.#saved.delete(path);
        lines.push([path, entry ?? null]);
      },
      write: () => {
        if (lines.length > 0) this.#journal.write({ set: lines });
      },
    };
  }

  /** Whether a file still has a snapshot's content. Reads the file only if its version is not conclusive. */
  #hasContent(path: string, now: FileVersion, then: SavedEntry): boolean {
    if (then.type !== "file") return false;
    if (isSameVersion(now, then.version) && !this.#changed.has(path)) return true;
    return now.size === then.content.length && hashFile(join(this.#root, path)) === then.content.hash;
  }

  /** Scans the folder. Changes stay in `#changed` until a snapshot has saved them. */
  async #scan(): Promise<Tree> {
    const tree = await this.#scanner.scan();
    for (const path of tree.changed) this.#changed.add(path);
    return tree;
  }

  /** Returns the state at a version of all paths that differ from the latest version. */
  #entriesAt(version: number): ReadonlyMap<string, SavedEntry | undefined> {
    const entries = new Map<string, SavedEntry | undefined>();
    for (const undo of this.#undo.slice(version).toReversed()) {
      for (const [path, entry] of undo) entries.set(path, entry);
    }
    return entries;
  }
}
