import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { type OptionKeys, rejectUnknownOptions } from "codexkit";
import { isInside } from "@codexkit/rpc";
import picomatch from "picomatch";
import { checkValue, isString, isStrings } from "../check-value.ts";
import { PromptError } from "../errors.ts";

/** A file or folder on the host that is copied into a workspace. */
export interface Mount {
  /** Absolute path on the host. */
  readonly from: string;
  /** Target path in the workspace. Default: the workspace's root. */
  readonly to?: string;
  /** Globs of the files to copy, relative to `from`. Default: all files. */
  readonly include?: readonly string[];
  /** Globs of files to exclude. */
  readonly exclude?: readonly string[];
  /** Default: the remainder of the workspace's limit. */
  readonly maxBytes?: number;
  /** `follow` copies the targets of links, if they are also inside the mount. Default: "skip". */
  readonly links?: "skip" | "follow";
}

/** The result of copying a mount. */
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
 * @param allowedRoots Folders on the host that files may be copied from. They are compared by their real paths.
 * @throws {PromptError} `workspace_security` or `workspace_too_large`
 */
export function copyMount(
  root: string,
  mount: Mount,
  allowedRoots: readonly string[],
  bytesLeft: number,
): MountReport {
  checkMount(mount);
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
  if (statSync(source).isDirectory()) {
    createFolder(target);
    copyFolder(context, "", []);
  } else copyFile(context, source, "", joinTarget(target, mount, source));
  const { files, bytes, skipped } = context;
  return { from: mount.from, to, files, bytes, skipped };
}

const KNOWN: OptionKeys<Mount> = {
  from: true,
  to: true,
  include: true,
  exclude: true,
  maxBytes: true,
  links: true,
};

/** Validates a mount. For example, a misspelt `exclude` would copy files that must not be copied. */
function checkMount(mount: Mount): void {
  rejectUnknownOptions("openWorkspace: mount", mount, KNOWN);
  const { from, to, include, exclude, maxBytes, links } = mount;
  const what = `The mount "${from}"`;
  checkValue("The mount's from", from ?? null, "an absolute path", isString);
  checkValue(`${what}: to`, to, "a path inside the workspace", isString);
  checkValue(`${what}: include`, include, "an array of globs", isStrings);
  checkValue(`${what}: exclude`, exclude, "an array of globs", isStrings);
  checkValue(
    `${what}: maxBytes`,
    maxBytes,
    "a number of bytes",
    (value) => typeof value === "number" && value >= 0,
  );
  checkValue(
    `${what}: links`,
    links,
    '"skip" or "follow"',
    (value) => value === "skip" || value === "follow",
  );
}

/** Returns the target path. A single file keeps its name unless `to` specifies another. */
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
      ? `The mount "${from}" is rejected, because allowedRoots is empty.`
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

function toFilter({ include, exclude }: Mount): (path: string) => boolean {
  const isIncluded = include ? picomatch([...include], { dot: true }) : () => true;
  const isExcluded = exclude ? picomatch([...exclude], { dot: true }) : () => false;
  return (path) => isIncluded(path) && !isExcluded(path);
}

/** @param visited Real paths of the parent folders, so that followed links can't form a cycle. */
function copyFolder(context: CopyContext, path: string, visited: readonly string[]): void {
  const folder = join(context.source, path);
  const real = realpathSync(folder);
  if (visited.includes(real)) {
    context.skipped.push(path);
    return;
  }
  if (!isInside(context.source, real)) throw insecure(`"${folder}" leads outside its mount.`);
  const names = readdirSync(folder).toSorted();
  // Folders with entries are created with their first file, so that excluded ones leave nothing behind.
  if (names.length === 0 && context.isIncluded(path)) createFolder(join(context.target, path));
  for (const name of names) {
    copyEntry(context, path === "" ? name : `${path}/${name}`, [...visited, real]);
  }
}

function createFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "EEXIST" && code !== "ENOTDIR") throw cause;
    throw new PromptError("invalid_option", `Another mount copied a file to "${path}" or above it.`, {
      cause,
    });
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

/** Shared by all copies, which are synchronous. */
const chunk = Buffer.allocUnsafe(256 * 1024);

/**
 * Copies from an open file whose location is checked after opening it. So a file or folder that was replaced by a link since it
 * was listed is not followed, and a file that grows while it is copied can't exceed the limit.
 */
function copyFile(context: CopyContext, from: string, path: string, to: string): void {
  const source = openInside(context, from);
  try {
    createFolder(dirname(to));
    const target = openSync(
      to,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
      fstatSync(source).mode & 0o777,
    );
    try {
      for (let read = readSync(source, chunk); read > 0; read = readSync(source, chunk)) {
        context.bytes += read;
        if (context.bytes > context.maxBytes) {
          throw new PromptError(
            "workspace_too_large",
            `The mount "${context.source}" exceeds ${context.maxBytes} bytes (at "${path}").`,
          );
        }
        for (let written = 0; written < read;) written += writeSync(target, chunk, written, read - written);
      }
    } finally {
      closeSync(target);
    }
    context.files += 1;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new PromptError("invalid_option", `Two mounts copy a file to the same path: "${to}".`, { cause });
  } finally {
    closeSync(source);
  }
}

function openInside({ source }: CopyContext, from: string): number {
  let fd: number;
  try {
    fd = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    throw new PromptError("workspace_security", `"${from}" can't be read: ${(cause as Error).message}`, {
      cause,
    });
  }
  const opened = fstatSync(fd);
  const found = statSync(from, { throwIfNoEntry: false });
  if (!opened.isFile()) {
    closeSync(fd);
    throw insecure(`"${from}" is neither a file nor a folder.`);
  }
  if (found?.ino === opened.ino && found.dev === opened.dev && isInside(source, realpathSync(from)))
    return fd;
  closeSync(fd);
  throw insecure(`"${from}" was replaced while it was being copied.`);
}

function insecure(message: string): PromptError {
  return new PromptError("workspace_security", message);
}
