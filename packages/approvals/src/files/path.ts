import { posix } from "node:path";
import { LIMITS } from "../limits.ts";

// Functions on the text of paths of Linux and macOS.

const SLASH = 47;
/** Matches what resolving changes: `.` and `..`, doubled slashes, a trailing slash. */
const UNRESOLVED = /\/\.{0,2}(?:\/|$)/;

/** Resolves `path` against `base`, and removes `.`, `..` and doubled slashes. */
export function resolvePath(base: string, path: string): string {
  const joined = path.startsWith("/") ? path : `${base}/${path}`;
  // Most paths are plain already; this is the hottest function of the package.
  return joined.startsWith("/") && !UNRESOLVED.test(joined) ? joined : posix.resolve("/", joined);
}

/** Whether `path` is `root` or below it. Both must be absolute and normalised. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

/** Removes trailing slashes. A loop, because a regular expression takes quadratic time. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path.charCodeAt(end - 1) === SLASH) end -= 1;
  return path.slice(0, end);
}

/** The last segment of a path or program: `git` for `/usr/bin/git`. Empty if the text is too long for a path. */
export function baseName(path: string): string {
  if (path.length > LIMITS.pathChars) return path;
  // Like `lastIndexOf`, which is much slower for short texts.
  let at = path.length;
  while (at > 0 && path.charCodeAt(at - 1) !== SLASH) at -= 1;
  return path.slice(at);
}

export function hasWildcard(path: string): boolean {
  return /[*?[]/.test(path);
}

/** Wildcards of globs. A NUL represents unknown text. */
export const GLOB_WILDCARD = /[*?[{(\0]/;

/** The folder of all matches of a pattern: the part before the first segment with a wildcard. Other paths are unchanged. */
export function fixedFolder(path: string, wildcard = /[*?[]/): string {
  const wild = path.search(wildcard);
  return wild === -1 ? path : path.slice(0, Math.max(0, path.lastIndexOf("/", wild))) || "/";
}

/** Normalises names that file systems treat as equal: case, Unicode form, zero-width marks, Windows endings. */
export function foldName(name: string): string {
  // Most names are plain ASCII, so only their case can differ.
  if (/^[\w.-]*[\w-]$/.test(name)) return name.toLowerCase();
  return name
    .normalize("NFC")
    .replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .replace(/(?<![. ])[. ]+$/, "")
    .replace(/:[^]*$/, "")
    .toLowerCase();
}
