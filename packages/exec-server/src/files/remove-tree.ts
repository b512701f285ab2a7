import { constants } from "node:fs";
import { type FileHandle, open, rmdir, unlink } from "node:fs/promises";
import { joinPath, type NativePath } from "../wire/path-uri.ts";
import { BoundedTasks } from "./bounded-tasks.ts";
import { folderEntries } from "./folder-entries.ts";

/** How often a folder is read again because files were added while it was being removed. */
const ATTEMPTS = 16;

/**
 * Removes a folder and everything in it. Node's own `rm` starts the removal of all files at once, and all
 * other file operations wait until the last of them is done.
 */
export async function removeTree(path: NativePath): Promise<void> {
  const tasks = new BoundedTasks();
  try {
    await removeFolder(path, tasks);
  } finally {
    await tasks.settle();
  }
}

async function removeFolder(path: NativePath, tasks: BoundedTasks): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await removeEntries(path, tasks);
      await rmdir(path);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process has removed it.
      if (code === "ENOENT") return;
      if (attempt === ATTEMPTS || code !== "ENOTEMPTY") throw error;
    }
  }
}

async function removeEntries(path: NativePath, tasks: BoundedTasks): Promise<void> {
  await using folder = await openFolder(path);
  const inside = folder ? `/proc/self/fd/${folder.fd}` : path;
  const folders: NativePath[] = [];
  for await (const entry of folderEntries(inside)) {
    const child = joinPath(inside, entry.name);
    if (entry.isDirectory()) folders.push(child);
    else await tasks.start(() => removeFile(child));
  }
  // After the list of entries has been closed, so that a deep tree holds one descriptor per level.
  for (const child of folders) await removeFolder(child, tasks);
  await tasks.finish();
}

/**
 * Pins the folder where descriptors can be used as paths. Otherwise, a folder that is replaced by a link
 * while it is being removed could redirect the removal.
 */
async function openFolder(path: NativePath): Promise<FileHandle | undefined> {
  if (process.platform !== "linux") return undefined;
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

async function removeFile(path: NativePath): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    // Another process has removed it.
    if (error.code !== "ENOENT") throw error;
  });
}
