import type { BigIntStats } from "node:fs";

/**
 * Changes with the contents of a file: it has the file's number, size and times. A file that is changed in place twice within one
 * tick of the kernel's clock, to the same size, keeps its tag; one that is replaced never does.
 */
export function entityTag({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `"${[dev, ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join("-")}"`;
}

/** Whether a list of tags, as in `If-Match`, has this one. `*` is any. Weak tags never match. */
export function hasTag(list: string, tag: string): boolean {
  return list.trim() === "*" || list.split(",").some((entry) => entry.trim() === tag);
}
