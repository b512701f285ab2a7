import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import picomatch from "picomatch";
import { PromptError } from "../errors.ts";

/** A file or folder of the host that is copied into a workspace. */
export interface Mount {
  /** Absolute path on the host. */
  readonly from: string;
  /** Path inside the workspace. Default: the workspace's root. */
  readonly to?: string;
  /** Globs of files to copy, relative to `from`. Default: all. */
  readonly include?: readonly string[];
  /** Globs of files to leave out. */
  readonly exclude?: readonly string[];
  /** Default: the remainder of the workspace's limit. */
  readonly maxBytes?: number;
  /** `follow` copies what links inside the mount point to, if that is inside the mount too. Default: "skip". */
  readonly links?: "skip" | "follow";
}

/** What became of a mount. */
export interface MountReport {
  readonly from: string;
  readonly to: string;
  readonly files: number;
  readonly bytes: number;
  /** Links, sockets, pipes and devices, relative to `from`. */
  readonly skipped: readonly string[];
}

interface CopyContext {
  readonly source: string;
  readonly target: string;
  readonly isIncluded: (path: string) => boolean;
  readonly links: "skip" | "follow";
  readonly maxBytes: number;
  readonly skipped: string[];
  files: number;
  bytes: number;
}

/**
 * Copies a mount into a workspace.
 * @param allowedRoots Folders of the host that may be copied from. Their real paths count, not their names.
 * @throws {PromptError} `workspace_security` or `workspace_too_large`
 */
export function copyMount(
  root: string,
  mount: Mount,
  allowedRoots: readonly string[],
  bytesLeft: number,
): MountReport {
  const source = checkSource(mount.from, allowedRoots);
  const to = mount.to ?? ".";
  const target = checkTarget(root, to);
  const context: CopyContext = {
    source,
    target,
    isIncluded: toFilter(mount),
    links: mount.links ?? "skip",
    maxBytes: Math.min(mount.maxBytes ?? bytesLeft, bytesLeft),
    skipped: [],
    files: 0,
    bytes: 0,
  };
  if (statSync(source).isDirectory()) copyFolder(context, "", []);
  else copyFile(context, source, "", joinTarget(target, mount, source));
  const { files, bytes, skipped } = context;
  return { from: mount.from, to, files, bytes, skipped };
}

/** A single file keeps its name unless `to` gives another. */
function joinTarget(target: string, mount: Mount, source: string): string {
  return mount.to === undefined ? join(target, source.slice(source.lastIndexOf(sep) + 1)) : target;
}

function checkSource(from: string, allowedRoots: readonly string[]): string {
  if (!isAbsolute(from)) throw insecure(`The mount "${from}" is not an absolute path.`);
  const source = resolveReal(from);
  const roots = allowedRoots.map(resolveReal);
  if (roots.some((allowed) => isInside(allowed, source))) return source;
  throw insecure(
    roots.length === 0
      ? `The mount "${from}" is refused: allowedRoots is empty.`
      : `The mount "${from}" is outside the allowed roots: ${allowedRoots.join(", ")}.`,
  );
}

function resolveReal(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new PromptError("workspace_security", `"${path}" does not exist.`, { cause });
  }
}

function checkTarget(root: string, to: string): string {
  const target = join(root, to);
  if (isAbsolute(to) || !isInside(root, target)) {
    throw insecure(`The mount's target "${to}" is not inside the workspace.`);
  }
  return target;
}

function isInside(folder: string, path: string): boolean {
  const steps = relative(folder, path);
  return steps === "" || (!isAbsolute(steps) && steps !== ".." && !steps.startsWith(`..${sep}`));
}

function toFilter({ include, exclude }: Mount): (path: string) => boolean {
  const isIncluded = include ? picomatch([...include], { dot: true }) : () => true;
  const isExcluded = exclude ? picomatch([...exclude], { dot: true }) : () => false;
  return (path) => isIncluded(path) && !isExcluded(path);
}

/** @param visited Real paths of the folders above, so that followed links can't lead in circles. */
function copyFolder(context: CopyContext, path: string, visited: readonly string[]): void {
  const folder = join(context.source, path);
  const real = realpathSync(folder);
  if (visited.includes(real)) {
    context.skipped.push(path);
    return;
  }
  if (!isInside(context.source, real)) throw insecure(`"${folder}" leads out of its mount.`);
  mkdirSync(join(context.target, path), { recursive: true });
  for (const name of readdirSync(folder).toSorted()) {
    copyEntry(context, path === "" ? name : `${path}/${name}`, [...visited, real]);
  }
}

function copyEntry(context: CopyContext, path: string, visited: readonly string[]): void {
  const absolute = join(context.source, path);
  const stats = lstatSync(absolute, { throwIfNoEntry: false });
  if (!stats) return;
  if (stats.isDirectory()) {
    copyFolder(context, path, visited);
  } else if (stats.isFile()) {
    if (context.isIncluded(path)) copyFile(context, absolute, path, join(context.target, path));
  } else if (stats.isSymbolicLink() && context.links === "follow") {
    copyLink(context, path, visited);
  } else {
    context.skipped.push(path);
  }
}

function copyLink(context: CopyContext, path: string, visited: readonly string[]): void {
  const absolute = join(context.source, path);
  let real: string;
  try {
    real = realpathSync(absolute);
  } catch {
    context.skipped.push(path);
    return;
  }
  if (!isInside(context.source, real)) context.skipped.push(path);
  else if (statSync(real).isDirectory()) copyFolder(context, path, visited);
  else if (!statSync(real).isFile()) context.skipped.push(path);
  else if (context.isIncluded(path)) copyFile(context, real, path, join(context.target, path));
}

/** Opens without following links, so that a file that was replaced by a link since it was looked at is not followed. */
function copyFile(context: CopyContext, from: string, path: string, to: string): void {
  const fd = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(fd);
    if (context.bytes + size > context.maxBytes) {
      throw new PromptError(
        "workspace_too_large",
        `The mount "${context.source}" has more than ${context.maxBytes} bytes ("${path}" is one file too many).`,
      );
    }
    mkdirSync(join(to, ".."), { recursive: true });
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    context.files += 1;
    context.bytes += size;
  } finally {
    closeSync(fd);
  }
}

function insecure(message: string): PromptError {
  return new PromptError("workspace_security", message);
}
