// Part of the file helper: imports nothing from outside this package's own folder.
import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { nativePath } from "../wire/path-uri.ts";
import { CODES, Refusal } from "../wire/refusal.ts";

/** As many links as the kernel follows. */
const MAX_LINKS = 40;

interface Params {
  readonly path?: string;
  readonly sourcePath?: string;
  readonly destinationPath?: string;
  readonly mode?: "read" | "replace" | null;
}

/**
 * Refuses operations that would create or change something at paths that did not exist when the sandbox was set up.
 *
 * A sandbox for commands has a mount there, for which an empty folder has to exist in the workspace. The helper stays for
 * longer than one operation, and nothing of it should be seen in the workspace: so it checks by itself. A sandbox that
 * could win a race against the check could also create the path directly.
 */
export async function refuseGuarded(
  method: string,
  params: Params,
  guarded: readonly string[],
): Promise<void> {
  if (guarded.length === 0) return;
  for (const path of await changedBy(method, params)) {
    if (guarded.some((guard) => path === guard || path.startsWith(`${guard}/`))) throw readOnly();
  }
  if (method === "fs/copy") await refuseGuardedCopies(params, guarded);
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

/** A tree that is copied may have something that lands on a guarded path. */
async function refuseGuardedCopies(
  { sourcePath, destinationPath }: Params,
  guarded: readonly string[],
): Promise<void> {
  const destination = await finalPath(textOf(destinationPath), true);
  for (const guard of guarded) {
    if (!guard.startsWith(`${destination}/`)) continue;
    const source = join(textOf(sourcePath), guard.slice(destination.length + 1));
    const found = await lstat(source).catch(() => undefined);
    if (found) throw readOnly();
  }
}

/** Where a path leads when its last components are missing: existing links are resolved, also a last one to nothing. */
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
