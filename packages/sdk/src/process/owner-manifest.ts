import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync, lstatSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { CodexError } from "../errors.ts";
import type { ProcessIdentity } from "./find-owned.ts";
import { type ProcessTable, processTable } from "./process-table.ts";

/** Records on disk which process owns which child, so that the next start finds the children of a killed owner. */
export interface OwnerManifest {
  readonly version: 1;
  readonly mark: string;
  /** Pids of another namespace or boot are not comparable. */
  readonly namespace: string;
  readonly owner: ProcessIdentity;
  /** Absent until the child has been spawned. */
  readonly child?: ProcessIdentity | undefined;
  /** Number of processes created on the system so far. Shows later whether the pid may have been reused. */
  readonly forks?: number | undefined;
}

/** Environment variable that overrides the folder. */
export const OWNERS_VARIABLE = "CODEXKIT_OWNERS_DIR";

/** Returns the default folder for the manifests of this user. */
export function ownersFolder(): string {
  const configured = process.env[OWNERS_VARIABLE];
  if (configured) return resolve(configured);
  const user = process.getuid?.() ?? "user";
  return join(tmpdir(), `codexkit-${user}`, "owners");
}

/** The manifest of one child. It exists from before the spawn until the child has ended. */
export class ManifestFile {
  readonly #folder: string;
  #manifest: OwnerManifest;

  /** Writes the manifest without a child. If this process is killed during the spawn, the mark still identifies the child. */
  constructor(folder: string, mark: string, system: ProcessTable = processTable()) {
    this.#folder = folder;
    this.#manifest = {
      version: 1,
      mark,
      namespace: system.namespace(),
      owner: system.one(process.pid) ?? withUnknownStart(process.pid),
      forks: system.forks()?.made,
    };
    this.#write();
  }

  /** Number of processes that the system had created before the child, if known. */
  get forks(): number | undefined {
    return this.#manifest.forks;
  }

  get path(): string {
    return manifestPath(this.#folder, this.#manifest.mark);
  }

  /** Adds the child right after its spawn. */
  record(child: ProcessIdentity): void {
    this.#manifest = { ...this.#manifest, child };
    try {
      this.#write();
    } catch {
      // The disk is full. The child is already running, and the earlier manifest still finds it by its mark.
    }
  }

  /** Removes the manifest after the child has ended, and the folder if it is empty. */
  remove(): void {
    try {
      removeManifest(this.path);
    } catch {
      // A sweep removes it after this process has exited.
    }
  }

  #write(): void {
    writeManifest(this.#folder, this.#manifest);
  }
}

export function manifestPath(folder: string, mark: string): string {
  return join(folder, `${mark}.json`);
}

/** Identifies a process on a system without start times. */
export function withUnknownStart(pid: number): ProcessIdentity {
  return { pid, start: "", startOrder: 0 };
}

/** Writes a manifest atomically. */
export function writeManifest(folder: string, manifest: OwnerManifest): void {
  const path = manifestPath(folder, manifest.mark);
  const unfinished = `${path}.${process.pid}.tmp`;
  // Another process may remove the empty folder between the two steps.
  for (let attempt = 1; ; attempt++) {
    makeFolder(folder);
    try {
      writeFileSync(unfinished, JSON.stringify(manifest), { mode: 0o600, flag: "wx" });
      renameSync(unfinished, path);
      return;
    } catch (error) {
      rmSync(unfinished, { force: true });
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === 10) throw error;
    }
  }
}

/** Removes a manifest, and its folder if it is empty. */
export function removeManifest(path: string): void {
  rmSync(path, { force: true, recursive: true });
  removeIfEmpty(dirname(path));
}

/** Lists the files of a trusted folder. Empty if the folder does not exist. */
export function listManifests(folder: string): string[] {
  if (!checkFolder(folder)) return [];
  return readdirSync(folder).map((name) => join(folder, name));
}

/** Removes the folder if it is empty. */
export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
    // Only the default parent folder belongs to codexkit.
    if (process.env[OWNERS_VARIABLE] === undefined && folder === ownersFolder()) rmdirSync(dirname(folder));
  } catch {
    // Not empty, or already removed.
  }
}

function makeFolder(folder: string): void {
  if (checkFolder(folder)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkFolder(folder);
}

/**
 * Throws unless only this user can write to the folder, because a manifest lists processes to kill. Anyone can write to the temp
 * folder, so another user could have created the folder or a link first. Returns whether the folder exists.
 */
function checkFolder(folder: string): boolean {
  const checked = folder === ownersFolder() ? [dirname(folder), folder] : [folder];
  for (const path of checked) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    const uid = process.getuid?.();
    const wrong = stat.isSymbolicLink()
      ? "it is a symbolic link"
      : !stat.isDirectory()
        ? "it is not a folder"
        : uid !== undefined && stat.uid !== uid
          ? `it belongs to user ${stat.uid}`
          : uid !== undefined && (stat.mode & 0o022) !== 0
            ? "other users can write to it"
            : undefined;
    if (wrong !== undefined) {
      throw new CodexError(
        "invalid_argument",
        `Can't track processes in ${path}: ${wrong}. Remove it, or set ${OWNERS_VARIABLE} to your own folder.`,
      );
    }
  }
  return true;
}
