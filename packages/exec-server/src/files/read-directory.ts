import { CODES, Refusal } from "../wire/refusal.ts";
import { stat } from "node:fs/promises";
import { EXEC_LIMITS } from "../limits.ts";
import type { DirectoryEntry } from "../wire/exec-wire.ts";
import { joinPath, type NativePath } from "../wire/path-uri.ts";
import { folderEntries } from "./folder-entries.ts";

/**
 * Lists the entries of a folder. Links are reported as the type of their target; broken links are omitted.
 */
export async function readDirectory(path: NativePath): Promise<DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  let count = 0;
  for await (const child of folderEntries(path)) {
    count += 1;
    if (count > EXEC_LIMITS.directoryEntries)
      throw new Refusal(
        CODES.internal,
        `The directory has more than ${EXEC_LIMITS.directoryEntries} entries.`,
      );
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
