import { rangeOf, type Endpoint } from "../network/endpoint.ts";
import type { Location, PathKind, Workspace } from "../files/workspace.ts";
import type { WorkBudget } from "../limits.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import {
  defaultVerdict,
  judgeByFirstRule,
  notUnderstoodVerdict,
  refusal,
  type Verdict,
} from "./evaluation.ts";
import { EFFECTS, type EffectKind } from "./presets.ts";

export interface JudgeContext {
  readonly workspace: Workspace;
  readonly policy: CompiledPolicy;
  readonly budget: WorkBudget;
}

export type FileAccess = "read" | "update" | "mode" | "delete";

/** The verdict on a kind of effect, from the policy's `effects` or the preset. */
export function judgeKind(kind: EffectKind, compiled: CompiledPolicy, reason?: string): Verdict {
  const known = reason === undefined ? compiled.kindVerdicts.get(kind) : undefined;
  if (known !== undefined) return known;
  const verdict = kindVerdict(kind, compiled, reason ?? EFFECTS[kind], compiled.exclusive.command);
  if (reason === undefined) compiled.kindVerdicts.set(kind, verdict);
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

export function judgeRead(path: string, location: Location, { workspace, policy }: JudgeContext): Verdict {
  const ruled = judgeByRules(path, location, "read", policy);
  if (ruled !== undefined) return ruled;
  const { real } = location;
  // Reading reveals nothing that the model could not list anyway, except for secrets.
  if (real !== undefined)
    return workspace.isCredential(real)
      ? judgeKind("credentials", policy, `reads ${real}, which holds credentials`)
      : judgeKind("read", policy);
  // An unknown file may be one that must not be read.
  if (judgeKind("credentials", policy).decision === "allow" && !hasReadDenials(policy))
    return judgeKind("read", policy);
  const what = path.startsWith("/") ? `where ${path} leads` : "which file it reads";
  const verdict = notUnderstoodVerdict(`${what} is not known before it runs`, policy);
  return verdict.decision === "allow" ? { ...verdict, decision: "ask" } : verdict;
}

/** Whether any of the user's rules restricts reading. */
export function hasReadDenials({ hasPathRules, deny, ask }: CompiledPolicy): boolean {
  return hasPathRules && [...deny, ...ask].some((rule) => isAbout(rule, "read"));
}

/** Kinds of paths that nothing may write to. */
const REFUSED: Partial<Record<PathKind, readonly [rule: string, reason: string]>> = {
  device: ["disk-write", "is a device"],
  profile: ["persistence", "is run automatically later"],
  credentials: ["protected-path", "holds credentials"],
  owned: ["protected-path", "belongs to git or to Codex"],
  system: ["system-write", "belongs to the system"],
};

export function judgeWrite(
  path: string,
  location: Location,
  { workspace, policy }: JudgeContext,
  access: Exclude<FileAccess, "read"> = "update",
): Verdict {
  const kind = workspace.kindOf(location);
  const shown = location.real ?? path;
  // A sink discards contents, but its mode and its name belong to the system.
  const refused = REFUSED[kind === "sink" && access !== "update" ? "system" : kind];
  if (refused !== undefined) return refusal(refused[0], `${shown} ${refused[1]}`);
  const ruled = judgeByRules(path, location, access, policy);
  if (ruled !== undefined) return ruled;
  switch (kind) {
    case "sink":
      return judgeKind("read", policy);
    case "workspace":
    case "temp":
    case "temp-folder":
      return kind === "temp-folder" && access !== "update"
        ? judgeKind("writeOutside", policy, `changes ${shown}, which other programs use`)
        : judgeKind("write", policy, `writes ${shown}`);
    case "guarded": {
      const reason = `${shown} is a protected file: hooks, CI, editors, agents or shells follow it`;
      const inside = judgeKind("write", policy, reason);
      // The setting that allows writes outside the workspace also allows writes to protected files inside.
      return inside.decision === "allow" ? judgeKind("writeOutside", policy, reason) : inside;
    }
    case "unknown":
      return judgeKind("writeOutside", policy, `where ${path} leads is not known before it runs`);
    default:
      return judgeKind("writeOutside", policy, `writes ${shown}, outside the workspace`);
  }
}

/** Applies the user's path rules: deny and ask rules to every name of a file, allow rules only to its actual target. */
function judgeByRules(
  path: string,
  { real, entry }: Location,
  access: FileAccess,
  policy: CompiledPolicy,
): Verdict | undefined {
  if (!policy.hasPathRules) return undefined;
  const names = [path, real, entry].filter((name) => name !== undefined);
  const places = [real, entry];
  return judgeByFirstRule(policy, path, {
    tightens: (rule) => isAbout(rule, access) && names.some(rule.path),
    allows: (rule) =>
      isAbout(rule, access) && places.every((place) => place !== undefined && rule.path(place)),
  });
}

export function isAbout({ rule }: CompiledRule, access: FileAccess): boolean {
  if (rule.kind !== "path") return false;
  const change = access === "mode" ? "update" : access;
  return (
    rule.access === undefined || rule.access === change || (rule.access === "write" && change !== "read")
  );
}

/** Judges a connection to a host. If it sends data, a preset's list of hosts to read from is not enough. */
export function judgeHost(endpoint: Endpoint | undefined, sends: boolean, compiled: CompiledPolicy): Verdict {
  const { policy, preset } = compiled;
  const fallback = (reason: string): Verdict =>
    kindVerdict("network", compiled, reason, compiled.exclusive.host);
  if (endpoint === undefined) return fallback("a host that is not known before it runs");
  const { host } = endpoint;
  const range = rangeOf(host);
  if (range === "metadata" && preset.safety)
    return refusal("metadata-service", `${host} gives out the machine's credentials`);
  const ruled = judgeByFirstRule(compiled, host, {
    tightens: (rule) => rule.host(endpoint, true),
    allows: (rule) => rule.host(endpoint),
  });
  if (ruled?.decision === "deny") return ruled;
  if (compiled.hostsDenied.some((denies) => denies(endpoint, true)))
    return { decision: "deny", rule: "network.deny", reason: `${host} is a denied host` };
  if (ruled !== undefined) return ruled;
  if (compiled.hostsAllowed.some((allows) => allows(endpoint)))
    return { decision: "allow", rule: "network.allow", reason: `${host} is an allowed host` };
  if (compiled.exclusive.host) return defaultVerdict(policy.default, true, "");
  if (range === "loopback" || range === "private") {
    const decision = policy.network[range] ?? preset[range] ?? policy.default;
    const where = range === "loopback" ? "this machine" : "in a private network";
    return { decision, rule: `network.${range}`, reason: `${host} is ${where}` };
  }
  const reads = compiled.presetHosts.some((allows) => allows(endpoint));
  if (reads && (!sends || preset.allows.has("network")))
    return {
      decision: "allow",
      rule: `preset/${policy.preset}/hosts`,
      reason: `${host} is known to the preset`,
    };
  return fallback(sends ? `sends data to ${host}` : `reaches ${host}`);
}
