import { isUtf8 } from "node:buffer";
import { lstat } from "node:fs/promises";
import type { ServerLimits } from "../limits.ts";
import { Refusal } from "../wire/refusal.ts";
import { folderEntries } from "../files/folder-entries.ts";
import type { DenyPattern } from "./deny-pattern.ts";
import { policyRefusal } from "./policy-refusal.ts";

export interface DeniedMatch {
  readonly path: string;
  readonly isFloating: boolean;
}

export type DenyScanLimits = Pick<ServerLimits, "denyScanEntries" | "denyScanTimeoutMs" | "deniedMatches">;

interface Budget {
  readonly limits: DenyScanLimits;
  readonly deadline: number;
  entries: number;
  matches: number;
}

interface Folder {
  readonly path: Buffer;
  readonly relative: string;
  readonly depth: number;
}

/** Entries between two checks of the limits. */
const CHECK_EVERY = 1_000;

/** Folders that are read concurrently, as many as Node has threads for file operations. */
const CONCURRENCY = 4;

/**
 * Finds every path that a pattern denies now. Does not follow links to folders. A matching folder is denied
 * as a whole.
 */
export async function findDenied(
  patterns: readonly DenyPattern[],
  maxDepth: number | undefined,
  limits: DenyScanLimits,
): Promise<readonly DeniedMatch[]> {
  const budget: Budget = {
    limits,
    entries: limits.denyScanEntries,
    matches: limits.deniedMatches,
    deadline: performance.now() + limits.denyScanTimeoutMs,
  };
  const found: DeniedMatch[] = [];
  for (const pattern of patterns) await scan(pattern, maxDepth, budget, found);
  return found;
}

async function scan(
  { base, matches, levels, isFloating }: DenyPattern,
  maxDepth: number | undefined,
  budget: Budget,
  found: DeniedMatch[],
): Promise<void> {
  if (!matches) {
    found.push({ path: base, isFloating: false });
    return;
  }
  const deepest = Math.min(levels ?? Infinity, maxDepth ?? Infinity);
  const queue: Folder[] = [{ path: Buffer.from(base), relative: "", depth: 0 }];
  const visit = async (folder: Folder): Promise<void> => {
    const locked = (): void => void found.push({ path: textOf(folder.path), isFloating: false });
    for await (const entry of entriesOf(folder.path, locked)) {
      budget.entries -= 1;
      // Also checked within a folder, which may have millions of entries.
      if (budget.entries % CHECK_EVERY === 0) assertWithin(budget, base);
      const relative = `${folder.relative}${entry.name.toString()}`;
      const path = Buffer.concat([folder.path, SLASH, entry.name]);
      if (matches(relative)) {
        budget.matches -= 1;
        // With a depth limit, moving a folder below the limit would hide its files from the scan.
        found.push({ path: textOf(path), isFloating: isFloating && maxDepth === undefined });
      } else if (entry.isDirectory() && folder.depth + 1 < deepest) {
        queue.push({ path, relative: `${relative}/`, depth: folder.depth + 1 });
      }
    }
    assertWithin(budget, base);
  };
  for (let batch = queue.splice(0, CONCURRENCY); batch.length > 0; batch = queue.splice(-CONCURRENCY)) {
    await Promise.all(batch.map(visit));
  }
}

const SLASH = Buffer.from("/");

/**
 * Yields nothing if the path does not exist, is not a folder or can't be read: the sandbox runs as the same
 * user and can't read it either. But the owner of a folder can make it readable at any time, so `onLocked` is
 * called for it.
 */
async function* entriesOf(
  path: Buffer,
  onLocked: () => void,
): AsyncGenerator<{ name: Buffer; isDirectory(): boolean }> {
  try {
    yield* folderEntries(path);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES") {
      if (await mayBeOwn(path)) onLocked();
    } else if (code !== "ENOENT" && code !== "ENOTDIR") {
      // A path can be too long for this process and still be reachable step by step.
      throw policyRefusal(`${path.toString().slice(0, 200)} can't be read (${code}).`);
    }
  }
}

/** Also true if a folder above it can't be entered, because its owner is then unknown. */
async function mayBeOwn(path: Buffer): Promise<boolean> {
  const owner = await lstat(path).then(
    ({ uid }) => uid,
    () => undefined,
  );
  return owner === undefined || owner === process.getuid?.();
}

function textOf(path: Buffer): string {
  if (isUtf8(path)) return path.toString();
  throw policyRefusal(`The denied path ${path.toString()} can't be hidden, because it is not UTF-8.`);
}

function assertWithin({ limits, entries, matches, deadline }: Budget, base: string): void {
  if (entries < 0)
    throw scanRefusal(`More than ${limits.denyScanEntries} files would have to be checked below ${base}.`);
  if (matches < 0) throw scanRefusal(`More than ${limits.deniedMatches} files below ${base} are denied.`);
  if (performance.now() > deadline)
    throw scanRefusal(`Checking the files below ${base} took longer than ${limits.denyScanTimeoutMs} ms.`);
}

function scanRefusal(reason: string): Refusal {
  return policyRefusal(`${reason} Use a narrower pattern or set glob_scan_max_depth.`);
}
