import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { clearPlaceholder } from "./placeholders.ts";
import { isRunning, ownIdentity } from "./process-identity.ts";

/** Where a server keeps its pipes. */
export interface RuntimeFolder extends Disposable {
  readonly path: string;
  /** Holds the folders of all servers of this user. No sandbox sees it: pipes can be written through a read-only mount. */
  readonly shared: string;
}

/** Below the runtime folder: one link for each marker in a placeholder. */
export const JOURNAL = "placeholders";

const PRIVATE = 0o700;

/** Creates a folder for one server, and clears up after servers that were killed together with their launchers. */
export function openRuntimeFolder(): RuntimeFolder {
  const shared = sharedFolder();
  removeAbandoned(shared);
  const path = createWithin(shared);
  return {
    path,
    shared,
    [Symbol.dispose]: () => {
      clearJournal(path);
      // A `mkfifo` that still runs may make one more pipe while the folder is emptied.
      rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
      removeIfEmpty(shared);
    },
  };
}

function sharedFolder(): string {
  const path = join(tmpdir(), `codexkit-exec-${process.getuid?.() ?? 0}`);
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  // In a folder that everyone can write to, the name may have been taken by someone else.
  return isOurs(path) ? path : mkdtempSync(join(tmpdir(), "codexkit-exec-"));
}

function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const isPrivate = found?.isDirectory() === true && (found.mode & 0o077) === 0;
  return isPrivate && found.uid === process.getuid?.();
}

function createWithin(shared: string): string {
  // The last of the other servers may remove the shared folder at any moment.
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
  for (const name of readdirSync(shared)) {
    if (isRunning(name.split(".").slice(0, 3).join("."))) continue;
    clearJournal(join(shared, name));
    rmSync(join(shared, name), { recursive: true, force: true });
  }
}

function clearJournal(folder: string): void {
  const journal = join(folder, JOURNAL);
  for (const name of namesIn(journal)) {
    const marker = readlinkSync(join(journal, name));
    clearPlaceholder(marker, dirname(marker));
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Another server uses it.
  }
}
