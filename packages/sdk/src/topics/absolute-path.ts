import { posix, win32 } from "node:path";
import { CodexError } from "../errors.ts";

/**
 * Refuses a relative path, which the server would refuse in words that say nothing. Either kind of absolute is fine: the
 * server may run on another system than this program.
 */
export function checkAbsolute(path: string, what = "path"): string {
  if (posix.isAbsolute(path) || win32.isAbsolute(path)) return path;
  throw new CodexError("invalid_argument", `${what} must be absolute, got "${path}".`);
}
