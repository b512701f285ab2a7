import { mkdir, stat } from "node:fs/promises";
import { relative, resolve, isAbsolute } from "node:path";
import { CodexError } from "../errors.ts";

/** The folder to work in, as a full path. `spawn` would report a missing one as a missing program. */
export async function workingFolder(cwd: string): Promise<string> {
  const path = resolve(cwd);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return path;
  throw new CodexError(
    "invalid_argument",
    `cwd ${found ? "is not a folder" : "does not exist"}: ${path}. Codex can only work in a folder that is there.`,
  );
}

/** A home for Codex, made if it is missing: Codex itself refuses one that is not there. */
export async function codexHomeFolder(codexHome: string): Promise<string> {
  const path = resolve(codexHome);
  try {
    // Credentials lie in it.
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  } catch (cause) {
    throw new CodexError("invalid_argument", `codexHome can't be made: ${path}: ${String(cause)}`, { cause });
  }
}

/** Whether Codex will find its home inside the temp folder, where it makes no helper programs. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}
