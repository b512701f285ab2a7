import { posix, win32 } from "node:path";
import { CodexError } from "../errors.ts";

/**
 * Rejects a relative path, for which the server's own error is not helpful. Accepts POSIX and Windows paths: the server may
 * run on another system.
 */
export function checkAbsolute(path: string, what = "path"): string {
  if (posix.isAbsolute(path) || win32.isAbsolute(path)) return path;
  throw new CodexError("invalid_argument", `${what} must be absolute, got "${path}".`);
}
