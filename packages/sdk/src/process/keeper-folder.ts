import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { processTable } from "./process-table.ts";

const PREFIX = "codexkit-server-";

/** The file that identifies the folder's keeper. */
const OWNER_FILE = "keeper.json";

/** A younger folder without a keeper may have just been created. */
const UNCLAIMED_MS = 60_000;

const ownerFile = z.object({ pid: z.int(), start: z.string() });

/** Creates a server's private folder. Its path is short enough for a socket, and only this user can access it. */
export function createKeeperFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), PREFIX)));
}

/** Claims the folder for the calling process, so that no sweep removes it. */
export function claimKeeperFolder(folder: string): void {
  const start = processTable().one(process.pid)?.start ?? "";
  writeFileSync(join(folder, OWNER_FILE), JSON.stringify({ pid: process.pid, start }), { mode: 0o600 });
}

export function removeKeeperFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Removes the folders of this user's killed keepers. Never throws: the next sweep retries. */
export function sweepKeeperFolders(): void {
  try {
    const names = readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX));
    for (const name of names) {
      const folder = join(tmpdir(), name);
      if (isAbandoned(folder)) removeKeeperFolder(folder);
    }
  } catch {
    // The temp folder can't be listed.
  }
}

function isAbandoned(folder: string): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (!stat?.isDirectory() || (process.getuid && stat.uid !== process.getuid())) return false;
  try {
    const { pid, start } = ownerFile.parse(JSON.parse(readFileSync(join(folder, OWNER_FILE), "utf8")));
    const now = processTable().one(pid);
    return start !== "" && now?.start !== start;
  } catch {
    return Date.now() - stat.mtimeMs > UNCLAIMED_MS;
  }
}
