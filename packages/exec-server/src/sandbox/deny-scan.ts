import { isUtf8 } from "node:buffer";
import { lstat } from "node:fs/promises";
import type { ServerLimits } from "../limits.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import { folderEntries } from "../files/folder-entries.ts";
import type { DenyPattern } from "./deny-pattern.ts";

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

/** Every path that a pattern denies now. Links to folders are not followed; a folder that matches is denied whole. */
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
      // Also within one folder, which may have millions of entries.
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
 * None if it does not exist, is not a folder or can't be read: the sandbox runs as the same user and can't read it either.
 * But the owner of a folder can make it readable at any time, so `onLocked` is called for it.
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
      // A path can be too long for this process and still be reached by another one, step by step.
      throw refused(`${path.toString().slice(0, 200)} can't be examined (${code})`);
    }
  }
}

/** Also true if a folder above it can't be entered: its owner is unknown. */
async function mayBeOwn(path: Buffer): Promise<boolean> {
  const owner = await lstat(path).then(
    ({ uid }) => uid,
    () => undefined,
  );
  return owner === undefined || owner === process.getuid?.();
}

function textOf(path: Buffer): string {
  if (isUtf8(path)) return path.toString();
  throw refused(`the denied path ${path.toString()} is not UTF-8 and can't be hidden`);
}

function assertWithin({ limits, entries, matches, deadline }: Budget, base: string): void {
  if (entries < 0)
    throw refused(`more than ${limits.denyScanEntries} files would have to be checked below ${base}`);
  if (matches < 0) throw refused(`more than ${limits.deniedMatches} denied files lie below ${base}`);
  if (performance.now() > deadline)
    throw refused(`checking the files below ${base} took longer than ${limits.denyScanTimeoutMs} ms`);
}

function refused(message: string): Refusal {
  return new Refusal(
    CODES.invalidParams,
    `sandbox cannot be enforced: ${message}. Use a narrower pattern or set glob_scan_max_depth.`,
  );
}
