import type { Stats } from "node:fs";

/** Identifies one version of a file's content without reading it. */
export interface FileVersion {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
}

/** What a path of a workspace is. */
export type TreeEntry =
  | { readonly type: "file"; readonly mode: number; readonly version: FileVersion }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode: number };

const PERMISSIONS = 0o777;

export function toFileEntry(stats: Stats): TreeEntry {
  return { type: "file", mode: stats.mode & PERMISSIONS, version: toVersion(stats) };
}

export function toFolderEntry(stats: Stats): TreeEntry {
  return { type: "folder", mode: stats.mode & PERMISSIONS };
}

export function toVersion({ size, mtimeMs, ctimeMs, ino }: Stats): FileVersion {
  return { size, mtimeMs, ctimeMs, inode: ino };
}

export function isSameVersion(left: FileVersion, right: FileVersion): boolean {
  return (
    left.size === right.size &&
    left.mtimeMs === right.mtimeMs &&
    left.ctimeMs === right.ctimeMs &&
    left.inode === right.inode
  );
}
