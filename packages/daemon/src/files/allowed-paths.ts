import type { BigIntStats } from "node:fs";
import { constants } from "node:fs";
import { type FileHandle, open, readlink } from "node:fs/promises";
import { fileNotFound, toFileError, wrongType } from "./file-error.ts";

/**
 * Opens a handle that only refers to a file. Opening it never blocks and has no side effects, whatever the type of the
 * file.
 */
const O_PATH = 0o10000000;

export type FileType = "file" | "folder" | "link" | "other";

/** An existing path inside the roots. The handle keeps referring to the same file, even if the path changes. */
export interface AllowedPath extends AsyncDisposable {
  readonly handle: FileHandle;
  /** With symbolic links resolved. */
  readonly path: string;
  readonly stats: BigIntStats;
  readonly type: FileType;
}

/**
 * Opens paths inside the allowed roots. The kernel resolves the path with all its symbolic links, and the real path of
 * the opened handle is checked. A link that is replaced before the open changes the path that is checked; a link that
 * is replaced later has no effect.
 */
export class AllowedPaths {
  readonly #roots: readonly Buffer[];
  readonly #denied: readonly Buffer[];

  /**
   * @param roots Resolved folders.
   * @param denied Resolved folders that are never served, such as the one with the daemon's tokens.
   */
  constructor(roots: readonly string[], denied: readonly string[]) {
    this.#roots = roots.map((root) => Buffer.from(root));
    this.#denied = denied.map((folder) => Buffer.from(folder));
  }

  /** Rejects with `file_not_found`. `name` is the path in error messages. */
  async open(path: string | Buffer, { name = String(path), follow = true } = {}): Promise<AllowedPath> {
    let handle: FileHandle;
    try {
      handle = await open(path, O_PATH | (follow ? 0 : constants.O_NOFOLLOW));
    } catch (error) {
      const failure = toFileError(error, name);
      // A folder that can't be searched may be outside the roots.
      throw isAccessDenied(failure) ? fileNotFound(name) : failure;
    }
    try {
      const [real, stats] = await Promise.all([
        readlink(handlePath(handle), { encoding: "buffer" }),
        handle.stat({ bigint: true }),
      ]);
      // The kernel appends a marker to the name of a deleted file, so the name is not a valid path.
      if (stats.nlink === 0n || !this.#isAllowed(real)) throw fileNotFound(name);
      return {
        handle,
        path: String(real),
        stats,
        type: fileType(stats),
        [Symbol.asyncDispose]: async () => handle.close(),
      };
    } catch (error) {
      await handle.close();
      throw toFileError(error, name);
    }
  }

  /** Opens a folder. Rejects with `file_not_found` or `wrong_file_type`. */
  async openFolder(path: string | Buffer, name: string = String(path)): Promise<AllowedPath> {
    const opened = await this.open(path, { name });
    if (opened.type === "folder") return opened;
    await opened.handle.close();
    throw wrongType(name, "not a folder");
  }

  /**
   * Opens a regular file for reading. The contents belong to the stats, even if the path is replaced in the meantime.
   * Rejects with `wrong_file_type` for anything else: devices and pipes are never opened.
   */
  async openFile(path: string | Buffer, name: string = String(path)): Promise<AllowedPath> {
    await using named = await this.open(path, { name });
    if (named.type !== "file") throw wrongType(name, described(named.type));
    try {
      const handle = await open(handlePath(named.handle), constants.O_RDONLY | constants.O_NONBLOCK);
      return { ...named, handle, [Symbol.asyncDispose]: async () => handle.close() };
    } catch (error) {
      throw toFileError(error, name);
    }
  }

  #isAllowed(path: Buffer): boolean {
    const isInside = (folder: Buffer): boolean => startsWithFolder(path, folder);
    return this.#roots.some(isInside) && !this.#denied.some(isInside);
  }
}

/** Returns a path to a handle, or to an entry of a folder's handle, that does not traverse any other folder. */
export function handlePath(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

export function entryPath(folder: FileHandle, name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${handlePath(folder)}/`), Buffer.from(name)]);
}

export function fileType(stats: BigIntStats): FileType {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "other";
}

const SLASH = 47;

function startsWithFolder(path: Buffer, folder: Buffer): boolean {
  if (!path.subarray(0, folder.length).equals(folder)) return false;
  return path.length === folder.length || folder.at(-1) === SLASH || path[folder.length] === SLASH;
}

function described(type: FileType): string {
  return type === "folder" ? "a folder" : "a pipe, a socket or a device";
}

function isAccessDenied(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "file_access_denied";
}
