import { baseName, fixedFolder, GLOB_WILDCARD, isInside } from "../files/path.ts";
import { matchesPattern } from "../files/glob.ts";
import type { TreeReading } from "../programs/tree-readers.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import type { Verdict } from "./evaluation.ts";
import { isAbout, type FileAccess, type JudgeContext } from "./judge-path.ts";
import { describeRule } from "./rule.ts";

// Files that a command uses without naming them: by a pattern, or along with the folder that they are in.

/** Asks if a pattern may match a file of the user's deny or ask rules, judged by the text of the two patterns. */
export function judgePattern(
  pattern: string,
  access: FileAccess,
  policy: CompiledPolicy,
): Verdict | undefined {
  return askAboutRule(policy, access, fixedFolder(pattern, GLOB_WILDCARD), (glob) =>
    mayMatchSameName(baseName(pattern), baseName(glob)),
  );
}

/** Asks if reading a folder may include a file of the user's deny or ask rules. */
export function judgeTree(
  folder: string,
  { hasHidden, included }: TreeReading,
  { workspace, policy }: JudgeContext,
): Verdict | undefined {
  return askAboutRule(policy, "read", folder, (glob, { path }) => {
    const name = baseName(glob);
    // The prefix makes a hidden name an ordinary one. Braces are widened to a star.
    const isIncluded = included
      .map((pattern) => baseName(pattern.replaceAll(/\{[^}]*\}?/g, "*")))
      .some((pattern) => mayMatchSameName(`x${pattern}`, `x${name.toLowerCase()}`));
    if (!hasHidden && /^\.[^*]/.test(name) && !isIncluded) return false;
    const found = workspace.candidatesOf(`${folder}/**/${name}`);
    return name === "**" || found === undefined || found === null || found.some(path);
  });
}

function askAboutRule(
  policy: CompiledPolicy,
  access: FileAccess,
  folder: string,
  mayCover: (glob: string, rule: CompiledRule) => boolean,
): Verdict | undefined {
  if (!policy.hasPathRules) return undefined;
  const isNear = (other: string): boolean => isInside(folder, other) || isInside(other, folder);
  const found = [...policy.deny, ...policy.ask].find(
    (rule) =>
      isAbout(rule, access) &&
      rule.globs.some((glob) => isNear(fixedFolder(glob, GLOB_WILDCARD)) && mayCover(glob, rule)),
  );
  if (found === undefined) return undefined;
  // Has the id of the rule, so that no rule that allows the command answers the question.
  const decision = policy.policy.default === "deny" ? "deny" : "ask";
  const reason = `it may use files covered by the rule ${describeRule(found.rule)}`;
  return { decision, rule: found.id, reason, matched: found.rule };
}

/** Whether a name may match both a shell pattern and the last part of a glob, judged by the text before and after wildcards. */
function mayMatchSameName(pattern: string, glob: string): boolean {
  if (!/[*?{]/.test(glob)) return matchesPattern(pattern, glob);
  const [before = "", otherBefore = ""] = [pattern, glob].map((text) => /^[^*?[{]*/.exec(text)?.[0]);
  const [after = "", otherAfter = ""] = [pattern, glob].map((text) => /[^*?\]}]*$/.exec(text)?.[0]);
  return (
    (before.startsWith(otherBefore) || otherBefore.startsWith(before)) &&
    (after.endsWith(otherAfter) || otherAfter.endsWith(after))
  );
}
