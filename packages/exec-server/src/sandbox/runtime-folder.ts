import { existsSync, lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { clearPlaceholder, namesIn } from "./placeholders.ts";
import { isRunning, ownIdentity } from "./process-identity.ts";

/** The folder for a server's internal files. */
export interface RuntimeFolder extends Disposable {
  readonly path: string;
  /** Folders hidden from every sandbox: the parents of the runtime folders of all servers of this user. */
  hiddenFolders(): readonly string[];
  /** Creates the folder again if it was removed. */
  ensure(): void;
}

/** Below the runtime folder: one link for each marker in a placeholder. */
export const JOURNAL = "placeholders";

const PRIVATE = 0o700;

/** Creates a folder for one server, and cleans up after servers that were killed together with their launchers. */
export function openRuntimeFolder(): RuntimeFolder {
  const shared = sharedFolder();
  removeAbandoned(shared);
  const path = createWithin(shared);
  return {
    path,
    hiddenFolders: () => [...new Set([shared, ...fixedFolders().filter(isOwnedByUser)])],
    ensure: () => {
      if (existsSync(path)) return;
      createPrivate(shared);
      if (!isOwnedByUser(shared))
        throw new Error(`${shared} was replaced by something other than a private folder of this user.`);
      createPrivate(path);
    },
    [Symbol.dispose]: () => {
      clearJournal(path);
      // A `mkfifo` that is still running may create another pipe while the folder is being emptied.
      rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
      removeIfEmpty(shared);
    },
  };
}

/**
 * Returns folders that are the same for every server of a user, regardless of its environment, so that each
 * server hides the files of all servers from its sandboxes.
 */
function fixedFolders(): readonly string[] {
  const name = `codexkit-exec-${process.getuid?.() ?? 0}`;
  return process.platform === "linux" ? [`/tmp/${name}`, `/dev/shm/${name}`] : [join(tmpdir(), name)];
}

function sharedFolder(): string {
  for (const path of fixedFolders()) {
    try {
      createPrivate(path);
    } catch {
      continue; // Its parent is missing or can't be written to.
    }
    // In a world-writable folder, another user may have created this name.
    if (isOwnedByUser(path)) return path;
  }
  return mkdtempSync(join(tmpdir(), "codexkit-exec-"));
}

function createPrivate(path: string): void {
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function isOwnedByUser(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const isPrivate = found?.isDirectory() === true && (found.mode & 0o077) === 0;
  return isPrivate && found.uid === process.getuid?.();
}

function createWithin(shared: string): string {
  // Another server may remove the shared folder at any time when it exits.
  for (let attempt = 0; ; attempt += 1) {
    try {
      return mkdtempSync(join(shared, `${ownIdentity()}.`));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === 10) throw error;
      mkdirSync(shared, { mode: PRIVATE, recursive: true });
    }
  }
}

function removeAbandoned(shared: string): void {
  for (const name of namesIn(shared)) {
    if (isRunning(name.split(".").slice(0, 3).join("."))) continue;
    clearJournal(join(shared, name));
    rmSync(join(shared, name), { recursive: true, force: true });
  }
}

function clearJournal(folder: string): void {
  const journal = join(folder, JOURNAL);
  for (const name of namesIn(journal)) {
    const marker = targetOf(join(journal, name));
    if (marker !== undefined) clearPlaceholder(marker, dirname(marker));
  }
}

/**
 * Returns undefined if the link is missing: another server that starts at the same time may have cleared the
 * folder.
 */
function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // In use by another server.
  }
}
