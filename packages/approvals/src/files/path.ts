import { LIMITS } from "../limits.ts";

/** Paths by their text alone. Backslashes are read only where a drive or a share says that this is Windows. */
const [DOT, SLASH, BACKSLASH] = [46, 47, 92];
const DRIVE = /^[A-Za-z]:(?=[\\/]|$)/;

export function isAbsolute(path: string): boolean {
  return path.startsWith("/") || path.startsWith("\\\\") || DRIVE.test(path);
}

/** `path` seen from `base`, with `.`, `..` and doubled slashes gone. The result has forward slashes. */
export function resolvePath(base: string, path: string): string {
  // Most paths are plain already; this is the hottest function of the package.
  if (isPlain(path)) {
    if (path.startsWith("/")) return path;
    if (isPlain(base) && base.startsWith("/") && !DRIVE.test(path)) return `${base}/${path}`;
  }
  return normalize(base, path);
}

/** Nothing in it to take away: no dot at the start of a segment, no doubled or final slash, no backslash. */
function isPlain(path: string): boolean {
  let previous = 0;
  for (let at = 0; at < path.length; at += 1) {
    const char = path.charCodeAt(at);
    const startsSegment = at === 0 || previous === SLASH;
    if (char === BACKSLASH || (char === DOT && startsSegment)) return false;
    if (char === SLASH && startsSegment && at > 0) return false;
    previous = char;
  }
  return path !== "" && previous !== SLASH;
}

function normalize(base: string, path: string): string {
  const absolute = isAbsolute(path);
  const windows = DRIVE.test(path) || path.startsWith("\\\\") || (!absolute && DRIVE.test(base));
  const joined = absolute ? path : `${base}/${path}`;
  const text = windows ? joined.replaceAll("\\", "/") : joined;
  const drive = DRIVE.exec(text)?.[0].toUpperCase() ?? "";
  const segments: string[] = [];
  for (const segment of text.slice(drive.length).split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") segments.pop();
    else segments.push(segment);
  }
  return `${drive}/${segments.join("/")}`;
}

/** Whether `path` is `root` or lies below it. Both absolute and normal. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

/** A path without the slashes at its end. A loop: a regular expression takes the square of their number. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path.charCodeAt(end - 1) === SLASH) end -= 1;
  return path.slice(0, end);
}

/** The folder that a path is in, by its text. */
export function parentOf(path: string): string {
  const trimmed = withoutEndSlashes(path);
  return trimmed.slice(0, Math.max(0, lastSlash(trimmed))) || "/";
}

/** The last name of a path or of a program's call: `git` for `/usr/bin/git`. A text that is too long for a path is no name. */
export function baseName(path: string): string {
  if (path.length > LIMITS.pathChars) return path;
  return path.slice(lastSlash(path) + 1);
}

/** Like `lastIndexOf`, which is much slower for short texts. */
function lastSlash(path: string): number {
  let at = path.length - 1;
  while (at >= 0 && path.charCodeAt(at) !== SLASH) at -= 1;
  return at;
}

/** Whether a path has wildcards of the shell. */
export function hasWildcard(path: string): boolean {
  return /[*?[]/.test(path);
}

/** The folder that a pattern of the shell can't leave; any other path as it is. */
export function beforePattern(path: string): string {
  const wild = path.search(/[*?[]/);
  return wild === -1 ? path : path.slice(0, path.lastIndexOf("/", wild)) || "/";
}

/** The folder that a glob can't leave: everything before the first segment with a wildcard. */
export function fixedFolder(path: string): string {
  // A NUL represents unknown text.
  const unknown = path.indexOf("\u0000");
  const pattern = path.search(/[*?[{(]/);
  const wild = unknown === -1 || pattern === -1 ? Math.max(unknown, pattern) : Math.min(unknown, pattern);
  if (wild === -1) return path;
  const slash = path.lastIndexOf("/", wild);
  return slash <= 0 ? "/" : path.slice(0, slash);
}

/** One spelling for names that file systems take for the same: case, Unicode form, zero-width marks, Windows endings. */
export function foldName(name: string): string {
  // Most names are plain ASCII: nothing but their case can differ.
  if (/^[\w.-]*[\w-]$/.test(name)) return name.toLowerCase();
  return name
    .normalize("NFC")
    .replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .replace(/[. ]+$/, "")
    .replace(/:.*$/, "")
    .toLowerCase();
}
