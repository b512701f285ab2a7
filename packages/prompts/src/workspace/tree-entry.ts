import { constants } from "node:fs";
import type { PathStats } from "./stat-batch.ts";

/** Identifies one version of a file's content without reading it. */
export interface FileVersion {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
}

/** The type and state of a path. */
export type TreeEntry =
  | { readonly type: "file"; readonly mode: number; readonly version: FileVersion }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode: number };

const PERMISSIONS = 0o777;

/**
 * Describes a path. Returns undefined for sockets, pipes and devices.
 * @param previous The path's previous entry. Returned if it is unchanged, so that a scan allocates little.
 */
export function toEntry(
  stats: PathStats,
  previous: TreeEntry | undefined,
  readTarget: () => string,
): TreeEntry | undefined {
  const mode = stats.mode & PERMISSIONS;
  switch (stats.mode & constants.S_IFMT) {
    case constants.S_IFREG: {
      const isSame =
        previous?.type === "file" && previous.mode === mode && hasVersion(stats, previous.version);
      return isSame ? previous : { type: "file", mode, version: toVersion(stats) };
    }
    case constants.S_IFDIR:
      return previous?.type === "folder" && previous.mode === mode ? previous : { type: "folder", mode };
    case constants.S_IFLNK: {
      const target = readTarget();
      return previous?.type === "link" && previous.target === target ? previous : { type: "link", target };
    }
    default:
      return undefined;
  }
}

export function toVersion({ size, mtimeMs, ctimeMs, ino }: PathStats): FileVersion {
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

function hasVersion({ size, mtimeMs, ctimeMs, ino }: PathStats, version: FileVersion): boolean {
  return (
    size === version.size &&
    mtimeMs === version.mtimeMs &&
    ctimeMs === version.ctimeMs &&
    ino === version.inode
  );
}

/** File system clocks tick every few milliseconds. A second change within the same tick leaves the version unchanged. */
const CLOCK_TICK_MS = 20;

/** Some file systems store times in whole seconds; FAT has a resolution of two seconds. */
const COARSE_TICK_MS = 2_000;

/** Whether a version can't be trusted yet, because another change may leave it unchanged. */
export function isRecent({ mtimeMs, ctimeMs }: FileVersion): boolean {
  const latest = Math.max(mtimeMs, ctimeMs);
  return Date.now() - latest < (ctimeMs % 1_000 === 0 ? COARSE_TICK_MS : CLOCK_TICK_MS);
}
