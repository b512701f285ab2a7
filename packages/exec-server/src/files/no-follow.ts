import { CODES, Refusal } from "../wire/refusal.ts";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import type { NativePath } from "../wire/path-uri.ts";

/** A handle that only names a place: folders that may be searched but not read can be passed through. */
const O_PATH = 0o10000000;
const FOLDER_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const SLASH = 47;

/**
 * Calls `act` with a path to the last component that goes through no symbolic link: every folder on the way is opened
 * in the one before it, which no one can exchange meanwhile. A link on the way is ENOTDIR, as in Codex.
 */
export async function withoutLinks<T>(
  path: NativePath,
  act: (pathOfLast: Buffer) => Promise<T>,
  { createParents = false } = {},
): Promise<T> {
  if (process.platform !== "linux") {
    throw new Refusal(CODES.internal, "paths without symbolic links need Linux");
  }
  const components = splitPath(path);
  const last = components.pop();
  if (last === undefined) return act(Buffer.from("/"));
  let folder = await open("/", O_PATH | constants.O_DIRECTORY);
  try {
    for (const name of components) {
      const next = await enter(folder, name, createParents);
      await folder.close();
      folder = next;
    }
    return await act(inside(folder, last));
  } finally {
    await folder.close();
  }
}

export function linkInPath(): Refusal {
  return new Refusal(CODES.invalidRequest, "path contains a symbolic link");
}

async function enter(folder: FileHandle, name: Buffer, create: boolean): Promise<FileHandle> {
  const path = inside(folder, name);
  try {
    return await open(path, FOLDER_FLAGS);
  } catch (error) {
    if (!create || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    // Someone else made it meanwhile.
    if (error.code !== "EEXIST") throw error;
  });
  return open(path, FOLDER_FLAGS);
}

function inside(folder: FileHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${folder.fd}/`), name]);
}

function splitPath(path: NativePath): Buffer[] {
  const bytes = typeof path === "string" ? Buffer.from(path) : path;
  const components: Buffer[] = [];
  let start = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    if (at < bytes.length && bytes[at] !== SLASH) continue;
    if (at > start) components.push(bytes.subarray(start, at));
    start = at + 1;
  }
  return components;
}
