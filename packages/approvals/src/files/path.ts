import { posix } from "node:path";
import { LIMITS } from "../limits.ts";

// Paths by their text alone, as Linux and macOS write them.

const SLASH = 47;
/** What resolving changes: `.` and `..`, doubled slashes, a slash at the end. */
const UNRESOLVED = /\/\.{0,2}(?:\/|$)/;

/** `path` seen from `base`, with `.`, `..` and doubled slashes gone. */
export function resolvePath(base: string, path: string): string {
  const joined = path.startsWith("/") ? path : `${base}/${path}`;
  // Most paths are plain already; this is the hottest function of the package.
  return joined.startsWith("/") && !UNRESOLVED.test(joined) ? joined : posix.resolve("/", joined);
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

/** The last name of a path or of a program's call: `git` for `/usr/bin/git`. A text that is too long for a path is no name. */
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

/** The folder that a pattern can't leave: all before the first name with a wildcard. Any other path as it is. */
export function fixedFolder(path: string, wildcard = /[*?[]/): string {
  const wild = path.search(wildcard);
  return wild === -1 ? path : path.slice(0, Math.max(0, path.lastIndexOf("/", wild))) || "/";
}

/** One spelling for names that file systems take for the same: case, Unicode form, zero-width marks, Windows endings. */
export function foldName(name: string): string {
  // Most names are plain ASCII: nothing but their case can differ.
  if (/^[\w.-]*[\w-]$/.test(name)) return name.toLowerCase();
  return name
    .normalize("NFC")
    .replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .replace(/(?<![. ])[. ]+$/, "")
    .replace(/:[^]*$/, "")
    .toLowerCase();
}
