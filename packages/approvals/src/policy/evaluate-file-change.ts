import type { FileChangeRequest } from "../request/request.ts";
import {
  BYPASSED,
  cautionVerdict,
  defaultVerdict,
  evaluation,
  pickStricter,
  refusal,
  type PolicyEvaluation,
  type Verdict,
} from "./evaluation.ts";
import { judgeWrite, type JudgeContext } from "./judge-path.ts";

/** A patch: every path in it, both ends of a move, and the folder it asks to be granted. */
export function evaluateFileChange(request: FileChangeRequest, context: JudgeContext): PolicyEvaluation {
  const { changes = [], grantRoot } = request;
  const { policy } = context;
  if (!policy.preset.safety) return evaluation(BYPASSED);
  const judge = (path: string, access: "update" | "delete"): Verdict => judgeChange(path, access, context);
  const verdicts = changes.flatMap(({ path, kind, movePath }) =>
    movePath === undefined
      ? [judge(path, kind === "delete" ? "delete" : "update")]
      : [judge(path, "delete"), judge(movePath, "update")],
  );
  if (request.changes !== undefined && grantRoot !== undefined) verdicts.push(judgeRoot(grantRoot, context));
  const [first, ...others] = verdicts;
  if (first === undefined)
    return evaluation(cautionVerdict("no-changes", "the list of changes is not at hand", policy));
  const worst = others.reduce<Verdict>(pickStricter, first);
  return evaluation(worst, { scope: worst.matched?.scope === "session" ? "session" : "call" });
}

/** A folder that holds the workspace would grant more than the workspace. */
function judgeRoot(path: string, context: JudgeContext): Verdict {
  const { workspace, policy } = context;
  const { real } = workspace.locate(workspace.absolute(path, workspace.cwd));
  const isWide = real === undefined || (workspace.holdsWorkspace(real) && !workspace.inWorkspace(real));
  const decision = policy.policy.default === "allow" ? "allow" : "deny";
  return isWide
    ? defaultVerdict(decision, false, `${path} is wider than the workspace`)
    : judgeChange(path, "delete", context);
}

function judgeChange(path: string, access: "update" | "delete", context: JudgeContext): Verdict {
  const { workspace, policy } = context;
  if (path === "" || path.includes("\u0000")) return refusal("protected-path", "a path that can't be a file");
  const absolute = workspace.absolute(path, workspace.cwd);
  const verdict = judgeWrite(absolute, workspace.locate(absolute), context, access);
  return verdict.matched === undefined && policy.exclusive.path && !verdict.rule.startsWith("safety/")
    ? defaultVerdict(policy.policy.default, true, "")
    : verdict;
}
