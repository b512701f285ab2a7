import { KeyedSerialQueue } from "@codexkit/rpc/async";
import type { BigIntStats } from "node:fs";
import { constants } from "node:fs";
import { copyFile, type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DaemonError } from "../errors.ts";
import { type AllowedPath, type AllowedPaths, entryPath, handlePath } from "./allowed-paths.ts";
import { entityTag, hasTag } from "./entity-tag.ts";
import { errorCode, fileNotFound, toFileError, wrongType } from "./file-error.ts";

export interface Replacement {
  /** Path of the file with the new contents. */
  readonly source: string;
  /**
   * Unique. A temporary file with this name in the target's folder is left over from an earlier attempt of the same
   * write.
   */
  readonly id: string;
  /** The path in error messages. */
  readonly name: string;
  /** `If-Match`: entity tags of the contents that may be replaced. */
  readonly ifMatch?: string | undefined;
  /** Fails if the file exists. */
  readonly isNew?: boolean | undefined;
}

export interface ReplacedFile {
  readonly path: string;
  readonly bytes: number;
  readonly etag: string;
}

/** Locks of files that are being replaced, because two sessions can have the same folder. */
const locks = new KeyedSerialQueue<string>();

/** The target of a write: a folder inside the roots, and a name in it that is not a symbolic link. */
interface Target extends AsyncDisposable {
  readonly folder: AllowedPath;
  readonly name: string;
  /** Undefined if the file does not exist. */
  readonly stats: BigIntStats | undefined;
}

/**
 * Replaces or creates a file inside the roots atomically: a reader sees either the old or the new contents. The
 * contents are on disk when this resolves. The mode and owner are kept. Rejects with `precondition_failed`.
 */
export async function replaceFile(
  paths: AllowedPaths,
  path: string,
  replacement: Replacement,
): Promise<ReplacedFile> {
  const { name } = replacement;
  try {
    await using target = await openTarget(paths, path, name);
    checkPrecondition(target.stats, replacement);
    const temporary = entryPath(target.folder.handle, `.codexkit-${replacement.id}.tmp`);
    await copyTo(temporary, replacement.source, target.stats);
    try {
      await moveIntoPlace(temporary, target, replacement);
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
    await syncFolder(target.folder.handle);
    const stats = await lstat(entryPath(target.folder.handle, target.name), { bigint: true });
    return {
      path: join(target.folder.path, target.name),
      bytes: Number(stats.size),
      etag: entityTag(stats),
    };
  } catch (error) {
    throw toFileError(error, name);
  }
}

/** Makes all the checks of `replaceFile` without changing anything. */
export async function checkReplacement(
  paths: AllowedPaths,
  path: string,
  replacement: Omit<Replacement, "source" | "id">,
): Promise<void> {
  await using target = await openTarget(paths, path, replacement.name);
  checkPrecondition(target.stats, replacement);
}

async function openTarget(paths: AllowedPaths, path: string, name: string): Promise<Target> {
  const real = await resolveTarget(paths, path, name);
  const folder = await paths.openFolder(dirname(real), name);
  try {
    const entry = basename(real);
    const stats = await lstatOrUndefined(entryPath(folder.handle, entry));
    if (stats && !stats.isFile())
      throw wrongType(name, stats.isDirectory() ? "a folder" : "not a regular file");
    return { folder, name: entry, stats, [Symbol.asyncDispose]: async () => folder.handle.close() };
  } catch (error) {
    await folder.handle.close();
    throw toFileError(error, name);
  }
}

/**
 * Returns the path of an existing file with symbolic links resolved, or the unchanged path if the file does not exist.
 */
async function resolveTarget(paths: AllowedPaths, path: string, name: string): Promise<string> {
  const last = basename(path);
  if (path.endsWith("/") || last === "" || last === "." || last === "..") throw wrongType(name, "a folder");
  try {
    await using existing = await paths.open(path, { name });
    if (existing.type !== "file") {
      throw wrongType(name, existing.type === "folder" ? "a folder" : "not a regular file");
    }
    return existing.path;
  } catch (error) {
    if (!DaemonError.is(error) || error.code !== "file_not_found") throw error;
  }
  // The folder is checked when it is opened. A symbolic link with a missing target, or with one outside the roots, is
  // not replaced by a file.
  await using folder = await paths.openFolder(dirname(path), name);
  const entry = await lstatOrUndefined(entryPath(folder.handle, last));
  // If a file exists now, another writer has just created it.
  if (entry && !entry.isFile()) throw fileNotFound(name);
  return join(folder.path, last);
}

function checkPrecondition(
  stats: BigIntStats | undefined,
  { name, ifMatch, isNew }: Pick<Replacement, "name" | "ifMatch" | "isNew">,
): void {
  if (isNew && stats) throw preconditionFailed(`"${name}" already exists.`, stats);
  if (ifMatch === undefined) return;
  if (!stats) throw preconditionFailed(`"${name}" does not exist.`, stats);
  if (!hasTag(ifMatch, entityTag(stats))) throw preconditionFailed(`"${name}" has changed.`, stats);
}

function preconditionFailed(reason: string, stats: BigIntStats | undefined): DaemonError {
  return new DaemonError("precondition_failed", `${reason} Read it again before you write to it.`, {
    details: { etag: stats ? entityTag(stats) : null },
  });
}

async function copyTo(temporary: Buffer, source: string, old: BigIntStats | undefined): Promise<void> {
  await unlink(temporary).catch((error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw error;
  });
  await copyFile(source, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await using file = await open(temporary, constants.O_WRONLY | constants.O_NOFOLLOW);
  if (old) {
    // Only the superuser can change the owner. Without that right, the file belongs to the daemon's user.
    await file.chown(Number(old.uid), Number(old.gid)).catch(() => {});
    await file.chmod(Number(old.mode) & 0o7777);
  } else {
    await file.chmod(0o666 & ~process.umask());
  }
  await file.sync();
}

async function moveIntoPlace(temporary: Buffer, target: Target, replacement: Replacement): Promise<void> {
  const place = entryPath(target.folder.handle, target.name);
  const { dev, ino } = target.folder.stats;
  using _lock = await locks.acquire(`${dev}:${ino}/${target.name}`);
  // Checked again, because copying takes time. Another program can still write between the check and the rename, but
  // the daemon can't.
  const stats = await lstatOrUndefined(place);
  checkPrecondition(stats, replacement);
  if (!replacement.isNew) {
    await rename(temporary, place);
    return;
  }
  try {
    await link(temporary, place);
  } catch (error) {
    if (errorCode(error) === "EEXIST") {
      throw preconditionFailed(`"${replacement.name}" already exists.`, await lstatOrUndefined(place));
    }
    throw error;
  }
  await unlink(temporary);
}

async function syncFolder(folder: FileHandle): Promise<void> {
  await using readable = await open(handlePath(folder), constants.O_RDONLY | constants.O_DIRECTORY);
  await readable.sync();
}

async function lstatOrUndefined(path: Buffer): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
