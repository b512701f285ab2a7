import { lstat, realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Policy } from "../policy/policy.ts";
import type { ApprovalRequest } from "../request/request.ts";
import { pathsOf } from "../policy/paths-of.ts";
import type { PathFacts } from "./places.ts";

/**
 * The one step with I/O: follows the links of every path that a request touches, so that `evaluate` can judge where
 * things really land. A path that does not exist yet is followed as far as it exists.
 */
export async function resolvePaths(policy: Policy, request: ApprovalRequest): Promise<PathFacts> {
  const real: Record<string, string | null> = {};
  // What was found may lead to paths that matter in turn, such as the real name of the workspace.
  for (let round = 0; round < 3; round += 1) {
    const facts = withCase(real, process.platform);
    const missing = pathsOf(policy, request, facts).filter((path) => !(path in real));
    if (missing.length === 0) return facts;
    const found = await Promise.all(missing.map(async (path) => [path, await follow(path)] as const));
    for (const [path, target] of found) real[path] = target;
  }
  return withCase(real, process.platform);
}

function withCase(real: Record<string, string | null>, platform: NodeJS.Platform): PathFacts {
  // The usual set-up of these systems; a case-sensitive volume there is only judged more strictly.
  return { real, caseInsensitive: platform === "darwin" || platform === "win32" };
}

async function follow(path: string): Promise<string | null> {
  let existing = path;
  for (;;) {
    try {
      const target = await realpath(existing);
      return existing === path ? target : join(target, relative(existing, path));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      const parent = dirname(existing);
      // A dangling link is followed by a write: it must not pass for a plain name in its folder.
      if (code !== "ENOENT" || parent === existing || (await isLink(existing))) return null;
      existing = parent;
    }
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}
