import { Refusal } from "../wire/refusal.ts";
import { readdir, stat } from "node:fs/promises";
import { EXEC_LIMITS } from "../limits.ts";
import { CODES } from "../wire/codes.ts";
import type { DirectoryEntry } from "../wire/exec-wire.ts";
import { joinPath, type NativePath } from "../wire/path-uri.ts";

/** The entries of a folder, links as what they lead to; those that lead nowhere are left out. */
export async function readDirectory(path: NativePath): Promise<DirectoryEntry[]> {
  const children = await readdir(path, { withFileTypes: true, encoding: "buffer" });
  if (children.length > EXEC_LIMITS.directoryEntries) {
    throw new Refusal(CODES.internal, `more than ${EXEC_LIMITS.directoryEntries} directory entries`);
  }
  const entries: DirectoryEntry[] = [];
  for (const child of children) {
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
