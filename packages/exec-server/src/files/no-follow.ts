import { CODES, Refusal } from "../wire/refusal.ts";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import type { NativePath } from "../wire/path-uri.ts";
import { O_PATH } from "../linux-constants.ts";

const FOLDER_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const SLASH = 47;

/**
 * Calls `act` with a path to the last component that contains no symbolic links: each folder on the path is
 * opened relative to its parent, so that it can't be replaced meanwhile. Rejects with ENOTDIR if the path
 * contains a link, as Codex does.
 */
export async function withoutLinks<T>(
  path: NativePath,
  act: (pathOfLast: Buffer) => Promise<T>,
  { createParents = false } = {},
): Promise<T> {
  if (process.platform !== "linux") {
    throw new Refusal(CODES.internal, "Paths without symbolic links are supported only on Linux.");
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
    // Another process has created it meanwhile.
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
