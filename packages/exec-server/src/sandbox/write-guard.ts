// Part of the file helper: imports nothing from outside this package's own folder.
import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { folderEntries } from "../files/folder-entries.ts";
import { nativePath } from "../wire/path-uri.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import { MAX_LINKS } from "../linux-constants.ts";

interface Params {
  readonly path?: string;
  readonly sourcePath?: string;
  readonly destinationPath?: string;
  readonly mode?: "read" | "replace" | null;
}

/**
 * Refuses operations that would create or change something at paths that did not exist when the sandbox was
 * set up.
 *
 * A sandbox for commands has a mount there, which requires an empty folder in the workspace. The helper lives
 * longer than one operation and should leave no trace in the workspace, so it checks paths itself. A sandbox
 * that could win a race against the check could also create the path directly.
 */
export async function refuseGuarded(
  method: string,
  params: Params,
  guarded: readonly string[],
): Promise<void> {
  if (guarded.length === 0) return;
  for (const path of await changedBy(method, params)) refuseIfGuarded(path, guarded);
  if (method !== "fs/copy") return;
  const destination = await finalPath(textOf(params.destinationPath), true);
  await refuseGuardedCopies(textOf(params.sourcePath), destination, guarded);
}

async function changedBy(
  method: string,
  { path, destinationPath, mode }: Params,
): Promise<readonly string[]> {
  switch (method) {
    case "fs/writeFile":
    case "fs/createDirectory":
      return [await finalPath(textOf(path), true)];
    case "fs/open":
      return mode === "replace" ? [await finalPath(textOf(path), true)] : [];
    case "fs/remove":
      return [await finalPath(textOf(path), false)];
    case "fs/copy":
      return [await finalPath(textOf(destinationPath), true)];
    default:
      return [];
  }
}

/**
 * Checks the destination of every file of a copied tree. One of them may be a guarded path, directly or
 * through a link in the destination.
 */
async function refuseGuardedCopies(
  source: string,
  destination: string,
  guarded: readonly string[],
): Promise<void> {
  for (const guard of guarded) {
    if (!guard.startsWith(`${destination}/`)) continue;
    const found = await lstat(join(source, guard.slice(destination.length + 1))).catch(() => undefined);
    if (found) throw readOnly();
  }
  // A destination that does not exist yet has no links.
  if (!(await isFolder(source)) || !(await isFolder(destination))) return;
  const existing: { readonly from: string; readonly to: string }[] = [];
  for await (const { name } of folderEntries(source)) {
    const to = join(destination, name.toString());
    const found = await lstat(to).catch(() => undefined);
    if (!found || found.isFile()) continue;
    const real = found.isSymbolicLink() ? await finalPath(to, true) : to;
    refuseIfGuarded(real, guarded);
    existing.push({ from: join(source, name.toString()), to: real });
  }
  // After the list of entries has been closed, so that a deep tree does not need one descriptor per level.
  for (const { from, to } of existing) await refuseGuardedCopies(from, to, guarded);
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

function refuseIfGuarded(path: string, guarded: readonly string[]): void {
  if (guarded.some((guard) => path === guard || path.startsWith(`${guard}/`))) throw readOnly();
}

/**
 * Returns where a path leads if its last components are missing. Resolves existing links, including a last
 * one to a missing target.
 */
async function finalPath(path: string, followLast: boolean, links = 0): Promise<string> {
  if (links > MAX_LINKS) return path;
  const name = basename(path);
  if (name === "") return "/";
  const found = await lstat(path).catch(() => undefined);
  if (found && (followLast || !found.isSymbolicLink())) {
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined) return real;
  }
  const folder = await finalPath(dirname(path), true, links);
  if (!found?.isSymbolicLink() || !followLast) return join(folder, name);
  return finalPath(resolve(folder, await readlink(path)), true, links + 1);
}

function textOf(uri: string | undefined): string {
  const path = nativePath(uri ?? "");
  // Guarded paths are UTF-8, so the bytes of other names can't equal theirs.
  return typeof path === "string" ? path : path.toString("utf8");
}

function readOnly(): Error {
  return new Refusal(CODES.internal, "Read-only file system (os error 30)");
}
