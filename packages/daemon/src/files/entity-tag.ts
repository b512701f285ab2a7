import type { BigIntStats } from "node:fs";

/**
 * Creates a tag from the file's inode number, size and times, so that it changes with the contents. Two changes in
 * place to the same size within one tick of the kernel's clock have the same tag. A replaced file always has a new one.
 */
export function entityTag({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `"${[dev, ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join("-")}"`;
}

/** Whether a list of tags, as in `If-Match`, contains this tag. `*` matches any tag. Weak tags never match. */
export function hasTag(list: string, tag: string): boolean {
  return list.trim() === "*" || list.split(",").some((entry) => entry.trim() === tag);
}
