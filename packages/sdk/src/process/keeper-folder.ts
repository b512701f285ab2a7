import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processTable } from "./process-table.ts";

/** Beginning of the names of servers' private folders. */
export const FOLDER_PREFIX = "codexkit-server-";

/** The file that identifies the folder's keeper. */
export const OWNER_FILE = "keeper.json";

/** Creates a server's private folder. Its path is short enough for a socket, and only this user can access it. */
export function createKeeperFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), FOLDER_PREFIX)));
}

/** Claims the folder for the calling process, so that no sweep removes it. */
export function claimKeeperFolder(folder: string): void {
  const start = processTable().one(process.pid)?.start ?? "";
  writeFileSync(join(folder, OWNER_FILE), JSON.stringify({ pid: process.pid, start }), { mode: 0o600 });
}

export function removeKeeperFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
