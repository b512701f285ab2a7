import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import {
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, posix, relative, resolve, sep } from "node:path";
import { type OptionKeys, rejectUnknownOptions } from "codexkit";
import { isInside } from "@codexkit/rpc";
import { SerialQueue } from "@codexkit/rpc/async";
import { checkValue, isFunction } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import { ContentFile } from "./content-file.ts";
import type { Mount, MountReport } from "./mount.ts";
import { openFolder } from "./open-folder.ts";
import { previewWorkspace } from "./preview-workspace.ts";
import { openRegularFile, realPathOf } from "./regular-file.ts";
import { restorePaths, type RestoreReport } from "./restore-paths.ts";
import { SnapshotStore, type RestoreOptions, type WorkspaceSnapshot } from "./snapshot-store.ts";
import { type InterruptedTransaction, removeFolder } from "./state-folder.ts";
import { isSameVersion, toVersion, type FileVersion } from "./tree-entry.ts";
import { TreeScanner } from "./tree-scanner.ts";

const KNOWN_RESTORE: OptionKeys<RestoreOptions> = { mayRestore: true };

/** A tool call or turn that can be undone. */
export interface WorkspaceTransaction {
  /** Ends the transaction and keeps the changes. */
  commit(): void;
  /** Ends the transaction and undoes the changes. */
  rollback(options?: RestoreOptions): Promise<RestoreReport>;
}

interface WorkspaceParts {
  readonly root: string;
  readonly stateFolder: string;
  /** A folder that is removed when the workspace is closed. */
  readonly ownedFolder: string;
  readonly mounts: readonly Mount[];
  readonly reports: readonly MountReport[];
  readonly interrupted?: InterruptedTransaction;
}

/** The workspace whose transaction the current code runs in. */
const currentTransaction = new AsyncLocalStorage<Workspace>();

/** Files with snapshots. See `openWorkspace`. */
export class Workspace implements AsyncDisposable {
  /** Absolute path. */
  readonly root: string;
  /** The copied mounts. */
  readonly mounts: readonly MountReport[];
  readonly #parts: WorkspaceParts;
  readonly #store: SnapshotStore;
  readonly #transactions = new SerialQueue();
  /** Files that the current transaction wrote through this object, with their versions after the write. */
  #written = new Map<string, FileVersion | undefined>();
  #interrupted: InterruptedTransaction | undefined;
  #isClosed = false;

  constructor(parts: WorkspaceParts) {
    this.root = parts.root;
    this.mounts = parts.reports;
    this.#parts = parts;
    this.#interrupted = parts.interrupted;
    this.#store = new SnapshotStore(parts.root, parts.stateFolder);
  }

  /**
   * Whether a killed process left a transaction in this folder unfinished. Also true if this is unknown, because the record of its
   * transactions is damaged. See {@link restoreInterrupted}.
   */
  get hasInterrupted(): boolean {
    return this.#interrupted !== undefined;
  }

  /**
   * Undoes the transaction that a killed process left unfinished. Not done automatically, because the folder may have been
   * changed since.
   * @throws {PromptError} `invalid_snapshot` if the record of the transaction is damaged. Nothing is changed in that case.
   */
  async restoreInterrupted(): Promise<RestoreReport> {
    this.#checkOpen();
    const interrupted = this.#interrupted;
    if (!interrupted) return { restored: [], conflicts: [] };
    if ("damagedAt" in interrupted) {
      throw new PromptError(
        "invalid_snapshot",
        `The record of the interrupted transaction is damaged at ${interrupted.damagedAt}, so it can't be undone. Check the files in ${this.root}, then call discardInterrupted().`,
      );
    }
    this.#interrupted = undefined;
    using contents = new ContentFile(join(interrupted.stateFolder, "contents"));
    // Starting threads does not pay off for a single scan.
    using scanner = new TreeScanner(this.root, { parallelFiles: Number.POSITIVE_INFINITY });
    const { entries: current } = await scanner.scan();
    const report = restorePaths({
      root: this.root,
      contents,
      paths: [...new Set([...interrupted.entries.keys(), ...current.keys()])].filter(
        (path) => !interrupted.uncovered.has(path),
      ),
      current,
      target: (path) => interrupted.entries.get(path),
      hasContent: (_path, version, then) => then.type === "file" && isSameVersion(version, then.version),
      mayRestore: () => true,
      rules: interrupted.rules,
    });
    removeFolder(interrupted.stateFolder);
    return report;
  }

  /** Discards the unfinished transaction and keeps the files unchanged. */
  discardInterrupted(): void {
    if (this.#interrupted) removeFolder(this.#interrupted.stateFolder);
    this.#interrupted = undefined;
  }

  /** Returns a short description for the prompt: the mounts and the first files and folders. */
  preview(): string {
    return previewWorkspace(this.root, this.mounts);
  }

  /** Returns a hash of the mounts' configuration and of the path, mode and content of all files that are not ignored. */
  async fingerprint(): Promise<string> {
    this.#checkOpen();
    await this.#store.take();
    const hash = createHash("sha256").update(JSON.stringify(this.#parts.mounts));
    for (const [path, entry] of [...this.#store.saved].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      const content = entry.type === "file" ? entry.content.hash : entry.type === "link" ? entry.target : "";
      hash.update(JSON.stringify([path, entry.type, entry.type === "link" ? 0 : entry.mode, content]));
    }
    return hash.digest("hex");
  }

  /** Takes a snapshot of all files that are not ignored. */
  async snapshot(): Promise<WorkspaceSnapshot> {
    this.#checkOpen();
    return this.#store.take();
  }

  /**
   * Restores a snapshot without touching files that were ignored when it was taken.
   * @throws {PromptError} `invalid_snapshot` for another workspace's snapshot
   */
  async restore(snapshot: WorkspaceSnapshot, options: RestoreOptions = {}): Promise<RestoreReport> {
    this.#checkOpen();
    rejectUnknownOptions("restore", options, KNOWN_RESTORE);
    checkValue("restore: mayRestore", options.mayRestore, "a function", isFunction);
    return this.#store.restore(snapshot, options);
  }

  /** Runs a task as a transaction. Transactions of one workspace run one at a time. */
  async transact<Result>(task: (transaction: WorkspaceTransaction) => Promise<Result>): Promise<Result> {
    if (this.isInTransaction) {
      throw new PromptError(
        "invalid_option",
        "A transaction can't start inside another one of the same workspace, because it would wait for itself. Tool handlers already run in one.",
      );
    }
    return this.#transactions.run(async () => {
      this.#checkOpen();
      const snapshot = await this.#store.take();
      this.#written = new Map();
      this.#store.begin(snapshot);
      let isOpen = true;
      const end = (): void => {
        if (isOpen) this.#store.end(snapshot);
        isOpen = false;
      };
      const transaction: WorkspaceTransaction = {
        commit: end,
        rollback: async (options) => {
          const report = await this.#store.restore(snapshot, options);
          end();
          return report;
        },
      };
      try {
        return await currentTransaction.run(this, () => task(transaction));
      } finally {
        end();
      }
    });
  }

  /** Whether the calling code runs inside a transaction of this workspace. */
  get isInTransaction(): boolean {
    return currentTransaction.getStore() === this;
  }

  /** Whether the last write to a path was made by the current transaction through this object. */
  isOwnWrite(path: string): boolean {
    if (!this.#written.has(path)) return false;
    const version = this.#written.get(path);
    const stats = lstatSync(join(this.root, path), { throwIfNoEntry: false });
    return version && stats
      ? isSameVersion(toVersion(stats), version)
      : version === undefined && stats === undefined;
  }

  exists(path: string): boolean {
    return existsSync(this.resolve(path));
  }

  /** @throws {PromptError} `workspace_security` for pipes and devices, which would block this process */
  readText(path: string): string {
    const { folder, name } = this.#locate(path);
    using parent = openFolder(this.root, folder);
    using file = openRegularFile(join(parent.path, name), path, constants.O_RDONLY);
    return readFileSync(file.fd, "utf8");
  }

  /** Writes a file and creates its parent folders. */
  writeText(path: string, text: string): void {
    const { folder, name, written } = this.#locate(path);
    using parent = openFolder(this.root, folder, { create: true });
    using file = openRegularFile(join(parent.path, name), path, constants.O_WRONLY | constants.O_CREAT);
    // Truncated only after the check, because opening a device must not change it.
    ftruncateSync(file.fd);
    writeFileSync(file.fd, text);
    this.#written.set(written, toVersion(fstatSync(file.fd)));
  }

  /** Removes a file or a link, if it exists. */
  remove(path: string): void {
    const absolute = this.resolve(path);
    const folder = this.#toRelative(this.#realPathOf(dirname(absolute), path));
    using parent = openFolder(this.root, folder === "" ? "." : folder);
    rmSync(join(parent.path, basename(absolute)), { force: true });
    this.#written.set(this.#toRelative(absolute), undefined);
  }

  /**
   * Converts a path inside the workspace to an absolute path.
   * @throws {PromptError} `workspace_security` if it leads outside the workspace, even through links
   */
  resolve(path: string): string {
    this.#checkOpen();
    const absolute = resolve(this.root, path);
    this.#realPathOf(absolute, path);
    return absolute;
  }

  /** Removes the temporary folder and the stored snapshots. A `folder` that the caller passed is kept. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#transactions.run(() => {
      this.#store[Symbol.dispose]();
      removeFolder(this.#parts.ownedFolder);
    });
  }

  /** Returns the folder and name of a file after resolving all links, which may lead elsewhere in the workspace. */
  #locate(path: string): { readonly folder: string; readonly name: string; readonly written: string } {
    const real = this.#toRelative(this.#realPathOf(this.resolve(path), path));
    return { folder: posix.dirname(real), name: posix.basename(real), written: real };
  }

  /** Resolves all links of a path. Checks the result every time, because the links may have changed. */
  #realPathOf(absolute: string, path: string): string {
    if (isInside(this.root, absolute)) {
      const real = realPathOf(absolute);
      if (isInside(this.root, real)) return real;
    }
    throw new PromptError("workspace_security", `"${path}" is outside the workspace.`);
  }

  #toRelative(absolute: string): string {
    return relative(this.root, absolute).split(sep).join("/");
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new PromptError("invalid_option", "The workspace is closed.");
  }
}
