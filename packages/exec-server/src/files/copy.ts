import { Refusal } from "../wire/refusal.ts";
import type { Stats } from "node:fs";
import { copyFile, lstat, mkdir, readdir, readlink, realpath, symlink } from "node:fs/promises";
import { CODES } from "../wire/codes.ts";
import { joinPath, type NativePath } from "../wire/path-uri.ts";

/** Copies a file, a link as a link, or a tree. Special files are left out of trees and refused alone. */
export async function copyPath(
  source: NativePath,
  destination: NativePath,
  recursive: boolean,
): Promise<void> {
  const found = await lstat(source);
  if (found.isDirectory()) {
    if (!recursive) throw refused("fs/copy requires recursive: true when sourcePath is a directory");
    await assertNotInside(source, destination);
    await copyTree(source, destination);
  } else if (!(await copyOne(source, destination, found))) {
    throw refused("fs/copy only supports regular files, directories, and symlinks");
  }
}

async function copyTree(source: NativePath, destination: NativePath): Promise<void> {
  await mkdir(destination, { recursive: true });
  for (const child of await readdir(source, { withFileTypes: true, encoding: "buffer" })) {
    const from = joinPath(source, child.name);
    const to = joinPath(destination, child.name);
    if (child.isDirectory()) await copyTree(from, to);
    else await copyOne(from, to, child);
  }
}

/** False for what can't be copied. */
async function copyOne(
  from: NativePath,
  to: NativePath,
  found: Pick<Stats, "isFile" | "isSymbolicLink">,
): Promise<boolean> {
  if (found.isSymbolicLink()) {
    await symlink(await readlink(from, { encoding: "buffer" }), to);
    return true;
  }
  if (!found.isFile()) return false;
  await copyFile(from, to).catch((error: NodeJS.ErrnoException) => {
    // A file onto itself is already where it should be.
    if (error.code !== "EINVAL" || String(from) !== String(to)) throw error;
  });
  return true;
}

async function assertNotInside(source: NativePath, destination: NativePath): Promise<void> {
  const from = await canonical(source);
  const to = await canonicalOfMissing(destination);
  if (to === from || to.startsWith(`${from}/`)) {
    throw refused("fs/copy cannot copy a directory to itself or one of its descendants");
  }
}

async function canonical(path: NativePath): Promise<string> {
  return (await realpath(path, { encoding: "buffer" })).toString("latin1");
}

/** The place that a path will have, whose last components may be missing. */
async function canonicalOfMissing(path: NativePath): Promise<string> {
  const text = Buffer.from(path as string).toString("latin1");
  try {
    return await canonical(path);
  } catch (error) {
    const slash = text.lastIndexOf("/");
    if (slash <= 0 || (error as NodeJS.ErrnoException).code !== "ENOENT") return text;
    const parent = await canonicalOfMissing(Buffer.from(text.slice(0, slash), "latin1"));
    return `${parent}${text.slice(slash)}`;
  }
}

function refused(message: string): Refusal {
  return new Refusal(CODES.invalidRequest, message);
}
