import { CODES, Refusal } from "../wire/refusal.ts";
import type { Stats } from "node:fs";
import { lstat, mkdir, readlink, realpath, symlink } from "node:fs/promises";
import { joinPath, type NativePath } from "../wire/path-uri.ts";
import { folderEntries } from "./folder-entries.ts";
import { openFile } from "./open-file.ts";

/** Copies a file, a link as a link, or a tree. Special files are left out of trees and refused alone. */
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
  await mkdir(destination, { recursive: true });
  for await (const child of folderEntries(source)) {
    const from = joinPath(source, child.name);
    const to = joinPath(destination, child.name);
    if (child.isDirectory()) await copyTree(from, to);
    else await copyOne(from, to, child);
  }
}

/** False for what can't be copied. */
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

/** Read and written in pieces of at most this size. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Copies one regular file. Both ends are opened without waiting and must be regular files: the system's own copy would
 * wait for the other side of a named pipe, and every wait occupies one of the few threads that serve all file operations.
 */
async function copyContent(from: NativePath, to: NativePath): Promise<void> {
  await using source = await openFile(from, "read", true);
  const { mode, dev, ino, size } = await source.stat();
  await using target = await openFile(to, "overwrite", true);
  const existing = await target.stat();
  // A file onto itself is already complete.
  if (existing.dev === dev && existing.ino === ino) return;
  await target.truncate(0);
  // One byte more than expected, so that the end shows in the first read of a small file.
  const piece = Buffer.allocUnsafe(Math.min(size + 1, PIECE_BYTES));
  for (;;) {
    const { bytesRead } = await source.read(piece, 0, piece.length);
    if (bytesRead === 0) break;
    for (let at = 0; at < bytesRead;) {
      const { bytesWritten } = await target.write(piece, at, bytesRead - at);
      at += bytesWritten;
    }
  }
  await target.chmod(mode & 0o7777);
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

/** The place that a path will have, whose last components may be missing. */
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
