import { mkdir, stat } from "node:fs/promises";
import { relative, resolve, isAbsolute } from "node:path";
import { CodexError } from "../errors.ts";

/** Returns the absolute path of an existing folder. `spawn` would report a missing folder as a missing program. */
export async function checkWorkingFolder(cwd: string): Promise<string> {
  const path = resolve(cwd);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return path;
  throw new CodexError(
    "invalid_argument",
    `cwd ${found ? "is not a folder" : "does not exist"}: ${path}. Pass an existing folder.`,
  );
}

/** Creates a home for Codex if necessary. Codex itself rejects one that does not exist. */
export async function createCodexHome(codexHome: string): Promise<string> {
  const path = resolve(codexHome);
  try {
    // Private, because it contains credentials.
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  } catch (cause) {
    throw new CodexError("invalid_argument", `codexHome can't be created: ${path}: ${String(cause)}`, {
      cause,
    });
  }
}

export function isInside(path: string, folder: string): boolean {
  const relativePath = relative(folder, path);
  return relativePath === "" || (!relativePath.startsWith("..") && !isAbsolute(relativePath));
}
