import { mkdirSync, type Stats, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { CodexError } from "../errors.ts";

// Synchronous, because codex is spawned after these calls: the threads of asynchronous calls would take longer to start.

/** Returns the absolute path of an existing folder. `spawn` would report a missing folder as a missing program. */
export function checkWorkingFolder(cwd: string): string {
  const path = resolve(cwd);
  const found = inspectPath(path);
  if (found?.isDirectory()) return path;
  throw new CodexError(
    "invalid_argument",
    `cwd ${found ? "is not a folder" : "does not exist"}: ${path}. Pass an existing folder.`,
  );
}

function inspectPath(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Creates Codex's home if necessary. Codex itself rejects a home that does not exist. */
export function createCodexHome(codexHome: string): string {
  const path = resolve(codexHome);
  try {
    // Private, because it contains credentials.
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  } catch (cause) {
    throw new CodexError("invalid_argument", `codexHome can't be created: ${path}: ${String(cause)}`, {
      cause,
    });
  }
}

/** Same as in `@codexkit/rpc`, which is loaded only while codex starts. This is needed earlier. */
export function isInside(folder: string, path: string): boolean {
  const steps = relative(folder, path);
  return steps === "" || (!isAbsolute(steps) && steps !== ".." && !steps.startsWith(`..${sep}`));
}
