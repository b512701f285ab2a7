import type { Workspace } from "../files/workspace.ts";
import type { FileChangeRequest } from "../request/request.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import {
  cautionVerdict,
  defaultVerdict,
  evaluation,
  strictest,
  type PolicyEvaluation,
  type Verdict,
} from "./evaluation.ts";
import { judgeWrite } from "./judge-path.ts";

/** A patch: every path in it, both ends of a move, and the folder it asks to be granted. */
export function evaluateFileChange(
  { changes, cwd, grantRoot }: FileChangeRequest,
  workspace: Workspace,
  policy: CompiledPolicy,
): PolicyEvaluation {
  if (!policy.preset.safety)
    return evaluation({ decision: "allow", rule: "preset/bypass", reason: "nothing is checked" });
  if (changes === undefined || (changes.length === 0 && grantRoot === undefined)) {
    return evaluation(
      cautionVerdict("no-changes", "the list of changes is not at hand", policy.policy.default),
    );
  }
  const judge = (path: string, access: "update" | "delete"): Verdict =>
    judgeChange(path, cwd ?? workspace.cwd, access, workspace, policy);
  const verdicts = changes.flatMap(({ path, kind, movePath }) =>
    movePath === undefined
      ? [judge(path, kind === "delete" ? "delete" : "update")]
      : [judge(path, "delete"), judge(movePath, "update")],
  );
  if (grantRoot !== undefined) {
    const folder = judge(grantRoot, "delete");
    // A folder that holds the workspace would grant more than the workspace.
    const { real } = workspace.locate(workspace.absolute(grantRoot, workspace.cwd));
    const wide = real === undefined || (workspace.holdsWorkspace(real) && !workspace.inWorkspace(real));
    verdicts.push(
      wide
        ? defaultVerdict(
            policy.policy.default === "allow" ? "allow" : "deny",
            false,
            `${grantRoot} is wider than the workspace`,
          )
        : folder,
    );
  }
  const worst = strictest(verdicts);
  if (worst === undefined)
    return evaluation(cautionVerdict("no-changes", "there is nothing in the patch", policy.policy.default));
  return evaluation(worst, { scope: worst.matched?.scope === "session" ? "session" : "call" });
}

function judgeChange(
  path: string,
  cwd: string,
  access: "update" | "delete",
  workspace: Workspace,
  policy: CompiledPolicy,
): Verdict {
  if (path === "" || path.includes("\u0000"))
    return { decision: "deny", rule: "safety/protected-path", reason: "a path that can't be a file" };
  const absolute = workspace.absolute(path, cwd);
  const verdict = judgeWrite(absolute, workspace.locate(absolute), workspace, policy, access);
  if (verdict.matched === undefined && policy.exclusive.path && !verdict.rule.startsWith("safety/"))
    return defaultVerdict(policy.policy.default, true, "");
  return verdict;
}
