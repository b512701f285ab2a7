import { lstat, readdir, readlink } from "node:fs/promises";
import { LIMITS } from "../limits.ts";
import { workspaceFor, judgeRequest } from "./evaluate-policy.ts";
import type { Policy } from "./policy.ts";
import type { ApprovalRequest } from "../request/request.ts";
import type { PathFacts } from "../files/workspace.ts";
import { matchesPattern } from "../files/glob.ts";

/** Maximum rounds of lookups. The results of one round may require further lookups. */
const ROUNDS = 4;
/** The maximum number of links in one path, as on Linux. */
const MOST_LINKS = 40;

/**
 * Resolves every path of a request as the kernel would, and lists the matches of its file name patterns, so that `evaluatePolicy`
 * can judge the actual targets. This is the only step with I/O. A path that does not exist yet is resolved as far as it
 * exists.
 */
export async function resolvePaths(policy: Policy, request: ApprovalRequest): Promise<PathFacts> {
  const real: Record<string, string | null> = {};
  const matches: Record<string, readonly string[] | null> = {};
  // The default of these systems. A case-sensitive volume there is only judged more strictly.
  const caseInsensitive = process.platform === "darwin" || process.platform === "win32";
  const facts: PathFacts = { real, matches, caseInsensitive };
  for (let round = 0; round < ROUNDS; round += 1) {
    const workspace = workspaceFor(policy, request, facts);
    judgeRequest(workspace, policy, request);
    const paths = [...workspace.touched].filter((path) => !Object.hasOwn(real, path));
    const patterns = [...workspace.patterns].filter((pattern) => !Object.hasOwn(matches, pattern));
    if (paths.length + patterns.length === 0) break;
    await Promise.all([
      ...paths.map(async (path) => {
        real[path] = await followPath(path);
      }),
      ...patterns.map(async (pattern) => {
        matches[pattern] = await listMatches(pattern);
      }),
    ]);
  }
  return facts;
}

/** Follows a path as the kernel does, one segment at a time: `..` leaves the folder that a link led to. */
async function followPath(path: string): Promise<string | null> {
  const pending = path.split("/").toReversed();
  let current = "";
  let isMissing = false;
  let links = 0;
  while (pending.length > 0) {
    const segment = pending.pop();
    if (segment === undefined || segment === "" || segment === ".") continue;
    if (segment === "..") {
      if (isMissing) return null;
      current = current.slice(0, Math.max(0, current.lastIndexOf("/")));
      continue;
    }
    const next = `${current}/${segment}`;
    const target = isMissing ? undefined : await linkTarget(next);
    if (target === null) isMissing = true;
    if (typeof target !== "string") {
      current = next;
      continue;
    }
    links += 1;
    // A process link has a different target for each process.
    if (links > MOST_LINKS || next.startsWith("/proc/") || target === "") return null;
    if (target.startsWith("/")) current = "";
    pending.push(...target.split("/").toReversed());
  }
  return current === "" ? "/" : current;
}

/** The target of a link. Undefined for other existing entries, null for missing ones, "" if it can't be read. */
async function linkTarget(path: string): Promise<string | null | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "ENOENT" || code === "ENOTDIR" ? null : "";
  }
}

/**
 * Lists the matches of a pattern of `*` and `?` as shells do: hidden names need an explicit dot. After `**`, which declarations
 * use for whole trees, hidden names match too, as they do for `find`.
 */
async function listMatches(pattern: string): Promise<readonly string[] | null> {
  const budget = { entries: LIMITS.treeEntries };
  const segments = pattern.split("/").slice(1);
  let found = [""];
  let isTree = false;
  for (const [index, segment] of segments.entries()) {
    if (segment === "**") {
      isTree = true;
      const isLast = index === segments.length - 1;
      const trees = await Promise.all(found.map((folder) => listTree(folder, isLast, budget)));
      if (budget.entries < 0) return null;
      found = [...new Set(trees.flat())];
      continue;
    }
    // The prefix makes a hidden name an ordinary one.
    const prefix = isTree ? "x" : "";
    const isLiteral = !isTree && !/[*?]/.test(segment);
    const next = found.map(async (folder) => {
      const names = isLiteral ? [segment] : await readdir(folder || "/").catch(() => []);
      const matching = names.filter((name) => isLiteral || matchesPattern(prefix + segment, prefix + name));
      return matching.map((name) => `${folder}/${name}`);
    });
    found = (await Promise.all(next)).flat();
    if (found.length > LIMITS.matches) return null;
  }
  return found.length > LIMITS.matches ? null : found;
}

/** Lists a folder and all folders below it, or everything below it. Does not follow links, like `find`. */
async function listTree(folder: string, withFiles: boolean, budget: { entries: number }): Promise<string[]> {
  const folders = [folder];
  const files: string[] = [];
  for (const path of folders) {
    const entries = await readdir(path || "/", { withFileTypes: true }).catch(() => []);
    budget.entries -= entries.length;
    if (budget.entries < 0) return [];
    for (const entry of entries) (entry.isDirectory() ? folders : files).push(`${path}/${entry.name}`);
  }
  return withFiles ? [...folders.slice(1), ...files] : folders;
}
