import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ContentFile, hashFile, type StoredContent } from "./content-file.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { WORKSPACE_LIMITS } from "./limits.ts";
import { restorePaths, type RestoreReport } from "./restore-paths.ts";
import { scanTree, type Tree } from "./scan-tree.ts";
import { type FileVersion, isSameVersion, type TreeEntry } from "./tree-entry.ts";

/** A path as it was at a snapshot. Files have their content stored. */
export type SavedEntry = TreeEntry & { readonly content?: StoredContent };

/** A moment of the workspace. Valid as long as its workspace is open. */
export interface WorkspaceSnapshot {
  readonly version: number;
  /** Paths that are not covered: sockets, pipes, devices, and files that changed while they were read. */
  readonly uncovered: readonly string[];
}

export interface RestoreOptions {
  /** Whether a changed path may be overwritten. Others are reported as conflicts. Default: all may. */
  readonly mayRestore?: (path: string) => boolean;
}

/** Journal lines of a workspace's state folder, from which a new process can restore an interrupted transaction. */
export type JournalLine =
  | { readonly set: readonly (readonly [path: string, entry: SavedEntry | null])[] }
  | { readonly begin: number }
  | { readonly end: number };

/**
 * Snapshots of a folder. The first one stores the content of every file that is not ignored; later ones compare versions
 * (size, times, inode) and read only what has changed.
 */
export class SnapshotStore implements Disposable {
  readonly #root: string;
  readonly #rules: IgnoreRules;
  readonly #contents: ContentFile;
  readonly #journal: number;
  readonly #saved = new Map<string, SavedEntry>();
  /** Per version: what the changed paths were before it. Undoing them from the end leads back to any version. */
  readonly #undo: ReadonlyMap<string, SavedEntry | undefined>[] = [];
  /** Files whose version can't be trusted, because they changed in the tick of the clock in which they were read. */
  readonly #recent = new Set<string>();

  constructor(root: string, stateFolder: string) {
    this.#root = root;
    mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
    this.#rules = new IgnoreRules(root);
    this.#contents = new ContentFile(join(stateFolder, "contents"));
    this.#journal = openSync(join(stateFolder, "journal.jsonl"), "a", 0o600);
  }

  /** Paths and contents of the last snapshot, for fingerprints. */
  get saved(): ReadonlyMap<string, SavedEntry> {
    return this.#saved;
  }

  async take(): Promise<WorkspaceSnapshot> {
    const tree = await scanTree(this.#root, this.#rules);
    const changed = this.#findChanged(tree);
    const undo = new Map<string, SavedEntry | undefined>();
    const uncovered = [...tree.unsupported];
    const lines: [string, SavedEntry | null][] = [];
    // Pushed first: if the loop fails, the versions before it can still be restored.
    if (changed.size > 0) this.#undo.push(undo);
    let sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;
    for (const path of changed) {
      const entry = this.#save(path, tree.entries.get(path));
      if (entry === "unreadable") uncovered.push(path);
      const saved = entry === "unreadable" ? undefined : entry;
      undo.set(path, this.#saved.get(path));
      if (saved) this.#saved.set(path, saved);
      else this.#saved.delete(path);
      lines.push([path, saved ?? null]);
      if (performance.now() > sliceEnd) {
        await setImmediate();
        sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;
      }
    }
    if (lines.length > 0) this.#write({ set: lines });
    return { version: this.#undo.length, uncovered };
  }

  /** Restores a snapshot. Ignored paths are never touched; only paths that differ are written. */
  async restore(
    snapshot: WorkspaceSnapshot,
    { mayRestore = () => true }: RestoreOptions = {},
  ): Promise<RestoreReport> {
    const target = this.#entriesAt(snapshot.version);
    const tree = await scanTree(this.#root, this.#rules);
    const candidates = new Set([...this.#findChanged(tree), ...target.keys()]);
    const report = restorePaths({
      root: this.#root,
      contents: this.#contents,
      paths: [...candidates].filter((path) => !snapshot.uncovered.includes(path)),
      current: tree.entries,
      target: (path) => (target.has(path) ? target.get(path) : this.#saved.get(path)),
      hasContent: (path, now, content) => this.#hasContent(path, now, content),
      mayRestore,
    });
    // What was written has new versions, which the next snapshot must know.
    await this.take();
    return report;
  }

  /** Marks the start of a transaction, so that a process that finds it unfinished knows what to restore. */
  begin(snapshot: WorkspaceSnapshot): void {
    this.#write({ begin: snapshot.version });
  }

  end(snapshot: WorkspaceSnapshot): void {
    this.#write({ end: snapshot.version });
  }

  [Symbol.dispose](): void {
    this.#contents[Symbol.dispose]();
    closeSync(this.#journal);
  }

  #save(path: string, entry: TreeEntry | undefined): SavedEntry | undefined | "unreadable" {
    if (entry?.type !== "file") return entry;
    const stored = this.#contents.store(join(this.#root, path));
    if (!stored) return "unreadable";
    if (isRecent(stored.version.mtimeMs) || isRecent(stored.version.ctimeMs)) this.#recent.add(path);
    else this.#recent.delete(path);
    return { ...entry, version: stored.version, content: stored.content };
  }

  /** Whether a file still has the content of a snapshot. Read only if its version does not tell. */
  #hasContent(path: string, now: FileVersion, then: SavedEntry): boolean {
    if (then.type !== "file" || !then.content) return false;
    if (isSameVersion(now, then.version) && !this.#recent.has(path)) return true;
    return now.size === then.content.length && hashFile(join(this.#root, path)) === then.content.hash;
  }

  #findChanged({ entries }: Tree): ReadonlySet<string> {
    const changed = new Set<string>(this.#recent);
    let known = 0;
    for (const [path, entry] of entries) {
      const saved = this.#saved.get(path);
      if (saved) known += 1;
      if (!isUnchanged(entry, saved)) changed.add(path);
    }
    // Usually every saved path still exists, and there is nothing to look for.
    if (known < this.#saved.size) {
      for (const path of this.#saved.keys()) if (!entries.has(path)) changed.add(path);
    }
    return changed;
  }

  /** What paths were at a version, for those that differ from the last one. */
  #entriesAt(version: number): ReadonlyMap<string, SavedEntry | undefined> {
    const entries = new Map<string, SavedEntry | undefined>();
    for (const undo of this.#undo.slice(version).toReversed()) {
      for (const [path, entry] of undo) entries.set(path, entry);
    }
    return entries;
  }

  #write(line: JournalLine): void {
    writeSync(this.#journal, `${JSON.stringify(line)}\n`);
  }
}

/** Clocks of file systems tick every few milliseconds: within a tick, a second change leaves the version as it was. */
const CLOCK_TICK_MS = 20;

function isRecent(timeMs: number): boolean {
  return Date.now() - timeMs < CLOCK_TICK_MS;
}

function isUnchanged(entry: TreeEntry, saved: SavedEntry | undefined): boolean {
  if (entry.type === "file") {
    return saved?.type === "file" && saved.mode === entry.mode && isSameVersion(saved.version, entry.version);
  }
  if (entry.type === "link") return saved?.type === "link" && saved.target === entry.target;
  return saved?.type === "folder" && saved.mode === entry.mode;
}
