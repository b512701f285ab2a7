import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { PromptError } from "../errors.ts";
import { withPath } from "./open-folder.ts";

/**
 * Opens a file without following links and without waiting for the other end of a pipe.
 * @param name The file's name in error messages.
 */
export function openRegularFile(
  path: string,
  name: string,
  flags: number,
): { readonly fd: number } & Disposable {
  let fd: number | undefined;
  try {
    fd = openSync(path, flags | constants.O_NONBLOCK | constants.O_NOFOLLOW, 0o666);
    if (fstatSync(fd).isFile()) {
      const opened = fd;
      return { fd: opened, [Symbol.dispose]: () => closeSync(opened) };
    }
  } catch (error) {
    // ENXIO: a pipe that no other process reads.
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw withPath(error, path, name);
  }
  if (fd !== undefined) closeSync(fd);
  throw new PromptError("workspace_security", `"${name}" is not a regular file.`);
}

/** Resolves links in the existing part of a path. */
export function realPathOf(path: string): string {
  for (let existing = path; ; existing = dirname(existing)) {
    const stats = lstatSync(existing, { throwIfNoEntry: false });
    if (!stats) continue;
    try {
      return join(realpathSync(existing), relative(existing, path));
    } catch (cause) {
      throw new PromptError("workspace_security", `"${existing}" is a broken link.`, { cause });
    }
  }
}
