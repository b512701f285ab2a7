import { CODES, Refusal } from "../wire/refusal.ts";
import { stat } from "node:fs/promises";
import { EXEC_LIMITS } from "../limits.ts";
import type { DirectoryEntry } from "../wire/exec-wire.ts";
import { joinPath, type NativePath } from "../wire/path-uri.ts";
import { folderEntries } from "./folder-entries.ts";

/** The entries of a folder, links as what they lead to; those that lead nowhere are left out. */
export async function readDirectory(path: NativePath): Promise<DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  let count = 0;
  for await (const child of folderEntries(path)) {
    count += 1;
    if (count > EXEC_LIMITS.directoryEntries)
      throw new Refusal(CODES.internal, `more than ${EXEC_LIMITS.directoryEntries} directory entries`);
    const found = child.isSymbolicLink()
      ? await stat(joinPath(path, child.name)).catch(() => undefined)
      : child;
    if (!found) continue;
    entries.push({
      fileName: child.name.toString("utf8"),
      isDirectory: found.isDirectory(),
      isFile: found.isFile(),
    });
  }
  return entries;
}
