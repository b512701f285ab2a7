import type { Location, Workspace } from "../files/workspace.ts";
import type { WorkBudget } from "../shell/work-budget.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import {
  defaultVerdict,
  judgeByFirstRule,
  notUnderstoodVerdict,
  refusal,
  type Verdict,
} from "./evaluation.ts";
import { EFFECTS, type EffectKind } from "./presets.ts";

/** What a request is judged by. */
export interface JudgeContext {
  readonly workspace: Workspace;
  readonly policy: CompiledPolicy;
  readonly budget: WorkBudget;
}

/** What is done to a file. */
export type FileAccess = "read" | "update" | "mode" | "delete";

/** The verdict on a kind of effect, from the policy's `effects` or the preset. */
export function judgeKind(kind: EffectKind, compiled: CompiledPolicy, reason?: string): Verdict {
  if (reason !== undefined) return kindVerdict(kind, compiled, reason, compiled.exclusive.command);
  const known = compiled.kindVerdicts.get(kind);
  if (known !== undefined) return known;
  const verdict = kindVerdict(kind, compiled, EFFECTS[kind], compiled.exclusive.command);
  compiled.kindVerdicts.set(kind, verdict);
  return verdict;
}

/** @param isExclusive Whether only what is in the allow list is allowed. */
export function kindVerdict(
  kind: EffectKind,
  { policy, preset }: CompiledPolicy,
  reason: string,
  isExclusive: boolean,
): Verdict {
  const chosen = policy.effects[kind];
  if (chosen !== undefined) return { decision: chosen, rule: `effects.${kind}`, reason };
  if (preset.allows.has(kind)) return { decision: "allow", rule: `preset/${policy.preset}/${kind}`, reason };
  return defaultVerdict(policy.default, isExclusive, reason);
}

/** What is read at a location. */
export function judgeRead(path: string, location: Location, { workspace, policy }: JudgeContext): Verdict {
  const ruled = judgeByRules(path, location, "read", policy);
  if (ruled !== undefined) return ruled;
  const { real } = location;
  if (real === undefined) return judgeUnknownRead(path, policy);
  // Reading gives the model no more than it could list; only secrets are kept from it.
  return workspace.isCredential(real)
    ? judgeKind("credentials", policy, `reads ${real}, which holds credentials`)
    : judgeKind("read", policy);
}

/** A file that may be any file may be one that must not be read. */
function judgeUnknownRead(path: string, policy: CompiledPolicy): Verdict {
  if (judgeKind("credentials", policy).decision === "allow" && !hasReadDenials(policy))
    return judgeKind("read", policy);
  const verdict = notUnderstoodVerdict(
    `${path.startsWith("/") ? `where ${path} leads` : "which file it reads"} is not known before it runs`,
    policy,
  );
  return verdict.decision === "allow" ? { ...verdict, decision: "ask" } : verdict;
}

/** Whether the user's rules keep any file from being read. */
export function hasReadDenials({ hasPathRules, deny, ask }: CompiledPolicy): boolean {
  return hasPathRules && [...deny, ...ask].some((rule) => isAbout(rule, "read"));
}

/** What is created, changed or deleted at a location. */
export function judgeWrite(
  path: string,
  location: Location,
  { workspace, policy }: JudgeContext,
  access: Exclude<FileAccess, "read"> = "update",
): Verdict {
  const kind = workspace.kindOf(location);
  const shown = location.real ?? path;
  switch (kind) {
    case "device":
      return refusal("disk-write", `${shown} is a device`);
    case "profile":
      return refusal("persistence", `${shown} is run automatically later`);
    case "credentials":
      return refusal("protected-path", `${shown} holds credentials`);
    case "owned":
      return refusal("protected-path", `${shown} belongs to git or to Codex`);
    case "system":
      return refusal("system-write", `${shown} belongs to the system`);
    default:
  }
  const ruled = judgeByRules(path, location, access, policy);
  if (ruled !== undefined) return ruled;
  switch (kind) {
    case "sink":
      // It discards contents, but its mode and its name are the system's.
      if (access !== "update") return refusal("system-write", `${shown} belongs to the system`);
      return judgeKind("read", policy);
    case "workspace":
    case "temp":
    case "temp-folder":
      return kind === "temp-folder" && access !== "update"
        ? judgeKind("writeOutside", policy, `changes ${shown}, which others use`)
        : judgeKind("write", policy, `writes ${shown}`);
    case "guarded": {
      const reason = `${shown} is a protected file: hooks, CI, editors, agents or shells obey it`;
      const inside = judgeKind("write", policy, reason);
      // The same setting that opens everything outside the workspace opens what is protected inside.
      return inside.decision === "allow" ? judgeKind("writeOutside", policy, reason) : inside;
    }
    case "unknown":
      return judgeKind("writeOutside", policy, `where ${path} leads is not known before it runs`);
    default:
      return judgeKind("writeOutside", policy, `writes ${shown}, outside the workspace`);
  }
}

/** The user's rules about paths: a deny or question holds for every name of a file, an allow for where it really leads. */
function judgeByRules(
  path: string,
  { real, entry }: Location,
  access: FileAccess,
  policy: CompiledPolicy,
): Verdict | undefined {
  if (!policy.hasPathRules) return undefined;
  const names = [path, real, entry].filter((name) => name !== undefined);
  return judgeByFirstRule(policy, path, {
    tightens: (rule) => isAbout(rule, access) && names.some(rule.path),
    allows: (rule) =>
      real !== undefined &&
      entry !== undefined &&
      isAbout(rule, access) &&
      rule.path(real) &&
      rule.path(entry),
  });
}

/** Whether a rule is about files that are used in this way. */
export function isAbout({ rule }: CompiledRule, access: FileAccess): boolean {
  if (rule.kind !== "path") return false;
  const change = access === "mode" ? "update" : access;
  return (
    rule.access === undefined || rule.access === change || (rule.access === "write" && change !== "read")
  );
}
