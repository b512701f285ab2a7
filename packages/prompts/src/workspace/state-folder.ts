import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { type DamagedJournal, readUnfinished, type UnfinishedTransaction } from "./journal.ts";
import { WORKSPACE_LIMITS } from "./limits.ts";
import { hasOwnerEnded, writeOwner } from "../owner-file.ts";

const TEMPORARY_PREFIX = "codexkit-workspace-";
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Creates a temporary folder for a workspace. Also removes folders that ended processes left behind. */
export function createTemporaryFolder(): string {
  const parent = realpathSync(tmpdir());
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (name.startsWith(TEMPORARY_PREFIX) && isOwnFolder(folder) && hasOwnerEnded(join(folder, "owner.json")))
      removeFolder(folder);
  }
  const folder = mkdtempSync(join(parent, TEMPORARY_PREFIX));
  writeOwner(join(folder, "owner.json"));
  return folder;
}

/** Whether a folder belongs to this user. The temporary folder is shared, and other users' files are never read or removed. */
function isOwnFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid());
}

/** Removes a folder whose files may be read-only. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** A transaction that its process did not finish, or may not have finished because its journal is damaged. */
export type InterruptedTransaction = (UnfinishedTransaction | DamagedJournal) & {
  readonly stateFolder: string;
};

/** Returns the folder that contains the states of all of this user's workspaces. */
export function defaultStateRoot(): string {
  return join(process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local", "state"), "codexkit", "workspaces");
}

/** Creates the state folder of one process for one workspace: `<state root>/<hash of the root>/<random>`. */
export function createStateFolder(stateRoot: string, root: string): string {
  const parent = join(stateRoot, hashOf(root));
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(parent, "state-"));
  writeOwner(join(folder, "owner.json"));
  writeFileSync(join(folder, "root"), root, { mode: 0o600 });
  return folder;
}

/**
 * Finds a transaction of this workspace that a killed process left unfinished. Also removes the states of other ended processes.
 * Those with an unfinished transaction are kept for a while, because their workspace may be opened again.
 */
export function findInterrupted(stateRoot: string, root: string): InterruptedTransaction | undefined {
  let found: InterruptedTransaction | undefined;
  for (const parent of listFolders(stateRoot)) {
    for (const folder of listFolders(parent)) {
      if (!hasOwnerEnded(join(folder, "owner.json"))) continue;
      const unfinished = readUnfinished(join(folder, "journal.jsonl"));
      const isOld = Date.now() - statSync(folder).mtimeMs > WORKSPACE_LIMITS.interruptedDays * DAY_MS;
      if (!unfinished || isOld) removeFolder(folder);
      else if (readRoot(folder) === root) found = { stateFolder: folder, ...unfinished };
    }
  }
  return found;
}

function listFolders(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [join(path, entry.name)] : [],
    );
  } catch {
    return [];
  }
}

function readRoot(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, "root"), "utf8");
  } catch {
    return undefined;
  }
}

function hashOf(root: string): string {
  return createHash("sha256").update(root).digest("hex").slice(0, 32);
}
