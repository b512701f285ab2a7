import { readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { FOLDER_PREFIX, OWNER_FILE, removeKeeperFolder } from "./keeper-folder.ts";
import { processTable } from "./process-table.ts";

// Separate from the code that creates folders, because a keeper must not wait for zod to load.

/** A younger folder without a keeper may have just been created. */
const UNCLAIMED_MS = 60_000;

const ownerFile = z.object({ pid: z.int(), start: z.string() });

/** Removes the folders of this user's killed keepers. Never throws: the next sweep retries. */
export function sweepKeeperFolders(): void {
  try {
    const names = readdirSync(tmpdir()).filter((name) => name.startsWith(FOLDER_PREFIX));
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
