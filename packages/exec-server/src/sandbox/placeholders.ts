import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning, ownIdentity } from "./process-identity.ts";
import { O_PATH } from "../linux-constants.ts";

/** Name prefix of the marker folders in a placeholder, one per server that uses it. */
const MARKER = /^\.codexkit-mount\.(?<owner>\d+\.\d+\.\d+)\.[0-9a-z]+$/;

/** How long a placeholder may be empty before it is removed: much longer than the two system calls in between take. */
const EMPTY_MS = 5;
const EMPTY_FOR_LONG_MS = 1_000;

/**
 * Whether a folder exists, or existed until a moment ago, only as a mount point for a sandbox of any server.
 */
export async function isPlaceholder(path: string): Promise<boolean> {
  try {
    const first = await firstName(path);
    if (first !== undefined) return MARKER.test(first);
    // A server removes its marker and then the folder. A folder that stays empty is not a placeholder.
    if (Date.now() - (await stat(path)).mtimeMs > EMPTY_FOR_LONG_MS) return false;
    await delay(EMPTY_MS);
    const later = await firstName(path);
    return later !== undefined && MARKER.test(later);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

async function firstName(path: string): Promise<string | undefined> {
  await using folder = await opendir(path);
  return (await folder.read())?.name;
}

interface Use {
  count: number;
  readonly marker: string;
  /** A descriptor of the folder that contains the placeholder. The folder may be renamed while a command runs. */
  readonly folder: number;
}

/**
 * Empty folders at paths where a sandbox must not create anything, because bubblewrap needs a mount point.
 *
 * Each server that uses a placeholder creates a marker in it. The kernel removes only empty folders, so the last server
 * removes the placeholder, and no server removes that of another one's sandbox, which would remove the mount too. Markers of
 * killed servers are removed by the next server that uses the placeholder. `journal` lists the markers of this server as
 * links for the launcher, which cleans up after a killed server.
 */
export class Placeholders {
  readonly #journal: string;
  readonly #uses = new Map<string, Use>();
  #next = 0;

  constructor(journal: string) {
    this.#journal = journal;
  }

  /** Whether the placeholder exists. False if another program removed it, and perhaps replaced it. */
  has(path: string): boolean {
    const use = this.#uses.get(path);
    return use !== undefined && existsSync(use.marker);
  }

  /** Creates the placeholders. Undefined if something else has been created at one of the paths meanwhile. */
  use(paths: readonly string[]): Disposable | undefined {
    using used = new DisposableStack();
    // Every time, because the runtime folder may have been removed.
    if (paths.length > 0) mkdirSync(this.#journal, { recursive: true });
    for (const path of paths) {
      if (!this.#acquire(path)) return undefined;
      used.defer(() => this.#release(path));
    }
    return used.move();
  }

  #acquire(path: string): boolean {
    const known = this.#uses.get(path);
    if (known) {
      // A user may have removed it while a command runs.
      if (!existsSync(known.marker) && !mark(path, known.marker)) return false;
      known.count += 1;
      return true;
    }
    const id = (this.#next++).toString(36);
    const marker = join(path, `.codexkit-mount.${ownIdentity()}.${id}${randomSuffix()}`);
    const entry = join(this.#journal, basename(marker));
    using undo = new DisposableStack();
    symlinkSync(marker, entry);
    undo.defer(() => rmSync(entry, { force: true }));
    const folder = openFolder(dirname(path));
    if (folder === undefined) return false;
    undo.defer(() => closeSync(folder));
    if (!mark(path, marker)) return false;
    this.#uses.set(path, { count: 1, marker, folder });
    undo.move();
    return true;
  }

  #release(path: string): void {
    const use = this.#uses.get(path);
    if (!use) return;
    use.count -= 1;
    if (use.count > 0) return;
    this.#uses.delete(path);
    const current = join(`/proc/self/fd/${use.folder}`, basename(path));
    const marker = join(current, basename(use.marker));
    // Without the marker, the folder at this path is no longer the placeholder.
    if (existsSync(marker)) clearPlaceholder(marker, current);
    closeSync(use.folder);
    rmSync(join(this.#journal, basename(use.marker)), { force: true });
  }
}

/** Removes a marker, the markers of servers that have ended, and the placeholder if no marker is left. */
export function clearPlaceholder(marker: string, path: string): void {
  tryRemove(marker);
  for (const name of namesIn(path)) {
    const owner = MARKER.exec(name)?.groups?.["owner"];
    if (owner !== undefined && !isRunning(owner)) tryRemove(join(path, name));
  }
  tryRemove(path);
}

/** Undefined if it has been removed meanwhile. */
function openFolder(path: string): number | undefined {
  try {
    return openSync(path, O_PATH | constants.O_DIRECTORY);
  } catch {
    return undefined;
  }
}

function mark(path: string, marker: string): boolean {
  // Another server may remove the placeholder between the two steps.
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const isNew = tryCreate(path);
    if (!isNew && !namesIn(path).every((name) => MARKER.test(name))) return false;
    if (!isNew && namesIn(path).length === 0) return false;
    if (tryCreate(marker)) return true;
  }
  return false;
}

/** Returns false if the path exists or its parent does not. */
function tryCreate(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}

function tryRemove(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // It does not exist, or is in use by another server.
  }
}

/** Returns the names in a folder, or none if it can't be read. */
export function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function randomSuffix(): string {
  return Math.trunc(Math.random() * 36 ** 6).toString(36);
}
