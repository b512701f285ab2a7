import type { BigIntStats } from "node:fs";
import { type FileHandle, lstat, opendir } from "node:fs/promises";
import type { FolderEntry, FolderPage } from "../api/file.ts";
import { DaemonError } from "../errors.ts";
import { type AllowedPaths, entryPath, fileType, handlePath } from "./allowed-paths.ts";
import { errorCode, toFileError } from "./file-error.ts";

export interface ListOptions {
  /** `next` of the previous page. */
  readonly cursor?: string;
  readonly limit: number;
  /** The path in error messages. */
  readonly name: string;
}

/**
 * Lists the entries of a folder, sorted by the bytes of their names. Memory usage depends on the page size, not on the
 * folder size.
 */
export async function listFolder(
  paths: AllowedPaths,
  path: string,
  { cursor, limit, name }: ListOptions,
): Promise<FolderPage> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  await using folder = await paths.openFolder(path, name);
  try {
    const names = await firstNames(folder.handle, after, limit + 1);
    const page = names.slice(0, limit);
    const entries = await Promise.all(page.map(async (entry) => describe(paths, folder.handle, entry)));
    return {
      path: folder.path,
      data: entries.filter((entry) => entry !== undefined),
      next: names.length > limit ? (page.at(-1)?.toString("base64url") ?? null) : null,
    };
  } catch (error) {
    throw toFileError(error, name);
  }
}

/** Returns the smallest names after a given one. */
async function firstNames(folder: FileHandle, after: Buffer | undefined, count: number): Promise<Buffer[]> {
  let names: Buffer[] = [];
  const keepFirst = (): void => {
    names = names.toSorted((a, b) => Buffer.compare(a, b)).slice(0, count);
  };
  const directory = await opendir(handlePath(folder), { encoding: "buffer", bufferSize: 1024 } as object);
  for await (const entry of directory) {
    const name = entry.name as unknown as Buffer;
    if (after && Buffer.compare(name, after) <= 0) continue;
    names.push(name);
    if (names.length >= 2 * count + 1000) keepFirst();
  }
  keepFirst();
  return names;
}

/** Resolves to undefined if the entry has been removed in the meantime. */
async function describe(
  paths: AllowedPaths,
  folder: FileHandle,
  name: Buffer,
): Promise<FolderEntry | undefined> {
  const path = entryPath(folder, name);
  let stats: BigIntStats;
  try {
    stats = await lstat(path, { bigint: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  const type = fileType(stats);
  return {
    name: name.toString(),
    type,
    bytes: type === "file" ? Number(stats.size) : null,
    modifiedAt: Number(stats.mtimeMs),
    ...(type === "link" && { linksTo: await linkedType(paths, path) }),
  };
}

async function linkedType(paths: AllowedPaths, link: Buffer): Promise<"file" | "folder" | "other" | null> {
  try {
    await using target = await paths.open(link);
    return target.type === "link" ? "other" : target.type;
  } catch (error) {
    if (DaemonError.is(error)) return null;
    throw error;
  }
}

function readCursor(cursor: string): Buffer {
  const name = Buffer.from(cursor, "base64url");
  if (name.length > 0 && name.toString("base64url") === cursor) return name;
  throw new DaemonError("invalid_cursor", "The cursor was not returned by a folder listing.");
}
