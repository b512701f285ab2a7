import { lstat, realpath, stat } from "node:fs/promises";
import type { FileMetadata } from "../wire/exec-wire.ts";
import { type NativePath, pathUri } from "../wire/path-uri.ts";
import { linkInPath, withoutLinks } from "./no-follow.ts";

export async function readMetadata(path: NativePath, followSymlinks: boolean): Promise<FileMetadata> {
  const own = followSymlinks ? await lstat(path) : await withoutLinks(path, (last) => lstat(last));
  const isSymlink = own.isSymbolicLink();
  if (isSymlink && !followSymlinks) throw linkInPath();
  const found = isSymlink ? await stat(path) : own;
  return {
    isDirectory: found.isDirectory(),
    isFile: found.isFile(),
    isSymlink,
    size: found.size,
    createdAtMs: Math.max(0, Math.floor(found.birthtimeMs)),
    modifiedAtMs: Math.max(0, Math.floor(found.mtimeMs)),
  };
}

export async function canonicalUri(path: NativePath): Promise<string> {
  const bytes = await realpath(path, { encoding: "buffer" });
  return pathUri(bytes);
}
