import { CODES, Refusal } from "../wire/refusal.ts";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { NativePath } from "../wire/path-uri.ts";
import { withoutLinks } from "./no-follow.ts";
import { isInProc } from "./proc-files.ts";

const FLAGS = {
  // Without O_NONBLOCK, opening a named pipe would block until its other end is opened.
  read: constants.O_RDONLY | constants.O_NONBLOCK,
  // Truncated only after it is known to be a regular file.
  replace: constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK,
  // Not truncated at all: the caller truncates it after writing.
  overwrite: constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK,
};

export interface OpenOptions {
  readonly followSymlinks: boolean;
  /** Refuses files of `/proc`, through which a sandbox could read the environment of processes outside it. */
  readonly isProcHidden?: boolean | undefined;
}

/** Opens a regular file. Refuses pipes, devices and folders without blocking on them. */
export async function openFile(
  path: NativePath,
  mode: keyof typeof FLAGS,
  { followSymlinks, isProcHidden = false }: OpenOptions,
): Promise<FileHandle> {
  const handle = followSymlinks
    ? await open(path, FLAGS[mode], 0o666)
    : await withoutLinks(path, (last) => open(last, FLAGS[mode] | constants.O_NOFOLLOW, 0o666));
  try {
    const found = await handle.stat();
    // Checked on the open file, because a link could be replaced between an earlier check and the opening.
    if (!found.isFile() || (isProcHidden && isInProc(found))) throw notAFile(path);
    if (mode === "replace") await handle.truncate(0);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function notAFile(path: NativePath): Refusal {
  return new Refusal(CODES.invalidRequest, `path \`${String(path)}\` is not a file`);
}
