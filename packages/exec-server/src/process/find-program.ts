import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";

/** Where programs are looked for when the child has no PATH: the C library's default. */
const DEFAULT_PATH = "/bin:/usr/bin";

/**
 * The file that `argv[0]` names for a child, as `execvp` would find it; throws the error that the system would give.
 * For PTYs alone: their library reports a missing program only as text in the output.
 */
export function findProgram(name: string, cwd: string, env: Readonly<Record<string, string>>): string {
  if (name.includes("/")) return executable(resolve(cwd, name));
  let refused: Error | undefined;
  for (const folder of (env["PATH"] ?? DEFAULT_PATH).split(":")) {
    try {
      return executable(resolve(cwd, folder === "" ? "." : folder, name));
    } catch (error) {
      // Execution goes on behind a file that may not be run, but if nothing follows, that is the reason.
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
