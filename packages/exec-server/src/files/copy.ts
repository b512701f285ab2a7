import { CODES, Refusal } from "../wire/refusal.ts";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath, symlink } from "node:fs/promises";
import { joinPath, type NativePath } from "../wire/path-uri.ts";
import { BoundedTasks } from "./bounded-tasks.ts";
import { folderEntries } from "./folder-entries.ts";
import { openFile } from "./open-file.ts";
import { writeAll } from "./write-file.ts";

/**
 * Copies a file, a link (as a link) or a tree. Special files inside a tree are skipped; copying one directly
 * is an error.
 */
export async function copyPath(
  source: NativePath,
  destination: NativePath,
  recursive: boolean,
): Promise<void> {
  const found = await lstat(source);
  if (found.isDirectory()) {
    if (!recursive) throw refused("fs/copy requires recursive: true when sourcePath is a directory");
    await assertNotInside(source, destination);
    await copyTree(source, destination);
  } else if (!(await copyOne(source, destination, found))) {
    throw refused("fs/copy only supports regular files, directories, and symlinks");
  }
}

async function copyTree(source: NativePath, destination: NativePath): Promise<void> {
  const tasks = new BoundedTasks();
  // Uses a list instead of recursion, so that a deep tree does not hold one folder open per level.
  const folders = [{ from: source, to: destination }];
  try {
    for (let folder = folders.pop(); folder; folder = folders.pop()) {
      const { from, to } = folder;
      await mkdir(to, { recursive: true });
      for await (const child of folderEntries(from)) {
        const paths = { from: joinPath(from, child.name), to: joinPath(to, child.name) };
        if (child.isDirectory()) folders.push(paths);
        else
          await tasks.start(async () => {
            await copyOne(paths.from, paths.to, child);
          });
      }
    }
    await tasks.finish();
  } finally {
    await tasks.settle();
  }
}

/** Resolves to false for files that can't be copied. */
async function copyOne(
  from: NativePath,
  to: NativePath,
  found: Pick<Stats, "isFile" | "isSymbolicLink">,
): Promise<boolean> {
  if (found.isSymbolicLink()) {
    await symlink(await readlink(from, { encoding: "buffer" }), to);
    return true;
  }
  if (!found.isFile()) return false;
  await copyContent(from, to);
  return true;
}

/** Maximum number of bytes per read and write. */
const PIECE_BYTES = 1024 * 1024;

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
// A new file, the usual case, needs no check of an existing one.
const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/**
 * Copies one regular file. Both ends are opened without blocking and must be regular files. The system's own
 * copy would block on the other end of a named pipe, and each blocked operation occupies one of the few
 * threads that serve all file operations.
 */
async function copyContent(from: NativePath, to: NativePath): Promise<void> {
  await using source = await open(from, READ_FLAGS);
  const found = await source.stat();
  if (!found.isFile()) throw refused("fs/copy only supports regular files, directories, and symlinks");
  await using target = await openTarget(to, found);
  if (!target) return;
  // One byte more than expected, so that the first read of a small file also detects its end.
  const piece = Buffer.allocUnsafe(Math.min(found.size + 1, PIECE_BYTES));
  for (;;) {
    const { bytesRead } = await source.read(piece, 0, piece.length);
    await writeAll(target, piece.subarray(0, bytesRead), null);
    if (bytesRead < piece.length) break;
  }
  // Without the set-user-ID, set-group-ID and sticky bits.
  await target.chmod(found.mode & 0o777);
}

/**
 * Opens and empties the destination. Resolves to undefined if it is the source itself, which is already
 * complete.
 */
async function openTarget(to: NativePath, source: Stats): Promise<FileHandle | undefined> {
  try {
    return await open(to, CREATE_FLAGS, source.mode & 0o777);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const target = await openFile(to, "overwrite", { followSymlinks: true });
  try {
    const existing = await target.stat();
    if (existing.dev !== source.dev || existing.ino !== source.ino) {
      await target.truncate(0);
      return target;
    }
  } catch (error) {
    await target.close();
    throw error;
  }
  await target.close();
  return undefined;
}

async function assertNotInside(source: NativePath, destination: NativePath): Promise<void> {
  const from = await canonical(source);
  const to = await canonicalOfMissing(destination);
  if (to === from || to.startsWith(`${from}/`)) {
    throw refused("fs/copy cannot copy a directory to itself or one of its descendants");
  }
}

async function canonical(path: NativePath): Promise<string> {
  return (await realpath(path, { encoding: "buffer" })).toString("latin1");
}

/** Returns the canonical form of a path whose last components may be missing. */
async function canonicalOfMissing(path: NativePath): Promise<string> {
  const text = Buffer.from(path as string).toString("latin1");
  try {
    return await canonical(path);
  } catch (error) {
    const slash = text.lastIndexOf("/");
    if (slash <= 0 || (error as NodeJS.ErrnoException).code !== "ENOENT") return text;
    const parent = await canonicalOfMissing(Buffer.from(text.slice(0, slash), "latin1"));
    return `${parent}${text.slice(slash)}`;
  }
}

function refused(message: string): Refusal {
  return new Refusal(CODES.invalidRequest, message);
}
