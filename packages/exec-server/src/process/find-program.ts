import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";

/** Search path for a child without PATH. The C library's default. */
const DEFAULT_PATH = "/bin:/usr/bin";

/**
 * Resolves `argv[0]` as `execvp` would, and throws the same error. Only needed for PTYs, where the shell in between would
 * report a missing program as output.
 */
export function findProgram(name: string, cwd: string, env: Readonly<Record<string, string>>): string {
  if (name.includes("/")) return executable(resolve(cwd, name));
  let refused: Error | undefined;
  for (const folder of (env["PATH"] ?? DEFAULT_PATH).split(":")) {
    try {
      return executable(resolve(cwd, folder === "" ? "." : folder, name));
    } catch (error) {
      // As `execvp` does: continue the search after a file without permission, and report it if there is no other.
      if ((error as NodeJS.ErrnoException).code === "EACCES") refused = error as Error;
    }
  }
  throw refused ?? systemError("ENOENT", -2);
}

function executable(path: string): string {
  if (!statSync(path).isFile()) throw systemError("EACCES", -13);
  accessSync(path, constants.X_OK);
  return path;
}

function systemError(code: string, errno: number): Error {
  return Object.assign(new Error(code), { code, errno });
}
