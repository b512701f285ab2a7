import { CODES, Refusal } from "../wire/refusal.ts";
import type { Dirent } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { EXEC_LIMITS } from "../limits.ts";
import type { WalkResult } from "../wire/exec-wire.ts";
import type { FileParams } from "../wire/file-params.ts";
import { osMessage } from "../wire/os-failure.ts";
import { joinPath, type NativePath, pathUri } from "../wire/path-uri.ts";
import { folderEntries } from "./folder-entries.ts";

type WalkOptions = FileParams<"fs/walk">["options"];

interface Folder {
  readonly path: NativePath;
  readonly depth: number;
  /** Its canonical path. */
  readonly identity: NativePath;
}

/** Size of each item in addition to its URI, as Codex counts it. */
const ITEM_BYTES = 64;

const DOT = 46;

/**
 * Lists a tree breadth-first, children by name. The limits also bound the size of the response. A walk that
 * takes too long returns what it has found, with `truncated` set.
 */
export async function walkTree(
  root: NativePath,
  options: WalkOptions,
  timeoutMs: number = EXEC_LIMITS.walkTimeoutMs,
): Promise<WalkResult> {
  assertLimits(options);
  const deadline = performance.now() + timeoutMs;
  const result: { entries: WalkResult["entries"][number][]; errors: WalkResult["errors"][number][] } = {
    entries: [],
    errors: [],
  };
  const own = await lstat(root);
  const isFolder = own.isSymbolicLink()
    ? options.followDirectorySymlinks && (await stat(root)).isDirectory()
    : own.isDirectory();
  if (!isFolder) return { ...result, truncated: false };

  const identity = await canonicalPath(root);
  const visited = new Set<string>([keyOf(identity)]);
  const queue: Folder[] = [{ path: root, depth: 0, identity }];
  let directories = 1;
  let scanned = 0;
  let bytes = 0;
  let truncated = false;
  const reserve = (uri: string): boolean => {
    bytes += uri.length + ITEM_BYTES;
    return bytes <= EXEC_LIMITS.walkBytes;
  };

  for (let folder = queue.shift(); folder; folder = queue.shift()) {
    for (const child of await childrenOf(folder, result.errors, deadline)) {
      scanned += 1;
      if (scanned > options.maxEntries || performance.now() >= deadline)
        return { ...result, truncated: true };
      const path = joinPath(folder.path, child.name);
      const kind = await kindOf(child, path, options.followDirectorySymlinks);
      if (kind === undefined) continue;
      const uri = pathUri(path);
      if (!reserve(uri)) return { ...result, truncated: true };
      if (kind === "file") {
        result.entries.push({ path: uri, kind });
        continue;
      }
      result.entries.push({ path: uri, kind });
      const isPruned = options.pruneHiddenDirectories === true && child.name[0] === DOT;
      if (isPruned || folder.depth >= options.maxDepth) continue;
      // Only a link can lead out of its folder. Resolving every folder would double the time.
      const childIdentity = child.isDirectory()
        ? joinPath(folder.identity, child.name)
        : await canonicalPath(path);
      if (visited.has(keyOf(childIdentity))) continue;
      if (directories >= options.maxDirectories) {
        truncated = true;
        continue;
      }
      visited.add(keyOf(childIdentity));
      directories += 1;
      queue.push({ path, depth: folder.depth + 1, identity: childIdentity });
    }
    if (performance.now() >= deadline) return { ...result, truncated: true };
  }
  return { ...result, truncated };
}

async function childrenOf(
  folder: Folder,
  errors: { path: string; message: string }[],
  deadline: number,
): Promise<Dirent<Buffer>[]> {
  try {
    const children: Dirent<Buffer>[] = [];
    for await (const child of folderEntries(folder.path)) {
      if (performance.now() >= deadline) break;
      children.push(child);
    }
    return children.toSorted((left, right) => Buffer.compare(left.name, right.name));
  } catch (error) {
    if (folder.depth === 0) throw error;
    const { errno = -5 } = error as NodeJS.ErrnoException;
    errors.push({ path: pathUri(folder.path), message: osMessage(errno) });
    return [];
  }
}

/** Links to files are skipped. Links to folders count as folders if they are followed. */
async function kindOf(
  child: Dirent<Buffer>,
  path: NativePath,
  follow: boolean,
): Promise<"file" | "directory" | undefined> {
  if (child.isFile()) return "file";
  if (child.isDirectory()) return "directory";
  if (!child.isSymbolicLink() || !follow) return undefined;
  const target = await stat(path).catch(() => undefined);
  return target?.isDirectory() ? "directory" : undefined;
}

function canonicalPath(path: NativePath): Promise<Buffer> {
  return realpath(path, { encoding: "buffer" });
}

function keyOf(path: NativePath): string {
  return typeof path === "string" ? Buffer.from(path).toString("latin1") : path.toString("latin1");
}

function assertLimits({ maxDepth, maxDirectories, maxEntries }: WalkOptions): void {
  const { walkDepth, walkDirectories, walkEntries } = EXEC_LIMITS;
  if (maxDirectories === 0 || maxEntries === 0) {
    throw new Refusal(CODES.invalidRequest, "filesystem walk limits must be greater than zero");
  }
  if (maxDepth > walkDepth || maxDirectories > walkDirectories || maxEntries > walkEntries) {
    throw new Refusal(
      CODES.invalidRequest,
      `filesystem walk limits exceed maximums: depth=${walkDepth}, directories=${walkDirectories}, entries=${walkEntries}`,
    );
  }
}
