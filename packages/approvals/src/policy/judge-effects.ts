import type { Places } from "../files/places.ts";
import type { Effect, EffectKind } from "../programs/effect.ts";
import type { Invocation } from "../shell/invocation.ts";
import { targetPaths } from "../shell/targets.ts";
import { UNKNOWN, type Value } from "../shell/value.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { defaultVerdict, type Verdict } from "./evaluation.ts";
import { evaluateEndpoint } from "./evaluate-network.ts";
import { describeRule } from "./rule.ts";

const WHAT: Readonly<Record<EffectKind, string>> = {
  read: "only reads",
  write: "writes in the workspace",
  writeOutside: "writes outside the workspace",
  run: "runs the project's own code",
  install: "installs packages",
  commit: "changes the local repository",
  sync: "exchanges commits with a server",
  network: "uses the network",
  publish: "shows something to the world",
  process: "controls processes or containers",
  credentials: "reads credentials",
  unknown: "a program that is not known",
};

/** The verdicts of the preset's table on all that a command does. */
export function judgeEffects(
  effects: readonly Effect[],
  invocation: Invocation,
  places: Places,
  policy: CompiledPolicy,
): Verdict[] {
  const verdicts: Verdict[] = [];
  const home = invocation.cwds.every((cwd) => cwd !== UNKNOWN && places.inWorkspace(cwd));
  for (const effect of effects) {
    switch (effect.kind) {
      case "network":
        for (const endpoint of effect.endpoints)
          verdicts.push(evaluateEndpoint(endpoint, effect.sends, policy));
        break;
      case "write":
        for (const file of effect.files) verdicts.push(...judgeWrite(file, invocation, places, policy));
        break;
      case "read":
        verdicts.push(judgeKind("read", policy));
        for (const file of effect.files ?? []) verdicts.push(...judgeRead(file, invocation, places, policy));
        break;
      case "run":
      case "install":
      case "commit":
        // Somebody else's project is not this one's code.
        verdicts.push(
          judgeKind(
            home ? effect.kind : "unknown",
            policy,
            home ? undefined : `${WHAT[effect.kind]}, outside the workspace`,
          ),
        );
        break;
      default:
        verdicts.push(judgeKind(effect.kind, policy));
    }
  }
  for (const { mode, target } of invocation.redirects) {
    verdicts.push(
      ...(mode === "write"
        ? judgeWrite(target, invocation, places, policy)
        : judgeRead(target, invocation, places, policy)),
    );
  }
  return verdicts;
}

export function judgeKind(
  kind: EffectKind,
  { policy, preset, exclusive }: CompiledPolicy,
  reason = WHAT[kind],
): Verdict {
  const chosen = policy.effects[kind];
  if (chosen !== undefined) return { decision: chosen, rule: `effects.${kind}`, reason };
  if (preset.allows.has(kind)) return { decision: "allow", rule: `preset/${policy.preset}/${kind}`, reason };
  return defaultVerdict(policy.default, exclusive.command, reason);
}

function judgeWrite(file: Value, invocation: Invocation, places: Places, policy: CompiledPolicy): Verdict[] {
  return targetPaths(file, invocation, places).map((path) => judgePath(path, "write", places, policy));
}

function judgeRead(file: Value, invocation: Invocation, places: Places, policy: CompiledPolicy): Verdict[] {
  const verdicts: Verdict[] = [];
  for (const path of targetPaths(file, invocation, places)) {
    // Nearly all paths: no rule speaks, and that the command reads was judged already.
    if (path.startsWith(UNKNOWN) || (!policy.hasPathRules && !places.isCredential(path))) continue;
    const verdict = judgePath(path, "read", places, policy);
    if (verdict.decision !== "allow") verdicts.push(verdict);
  }
  return verdicts;
}

/** One path against the user's rules about paths, then by where it lies. */
export function judgePath(
  path: string,
  access: "read" | "write",
  places: Places,
  compiled: CompiledPolicy,
): Verdict {
  const ruled = compiled.hasPathRules ? judgeByRules(path, access, places, compiled) : undefined;
  if (ruled !== undefined) return ruled;
  if (access === "read")
    return places.isCredential(path)
      ? judgeKind("credentials", compiled, `reads ${path}`)
      : judgeKind("read", compiled);
  const place = places.placeOf(path);
  if (place === "sink") return judgeKind("read", compiled);
  if (place === "workspace" || place === "temp") return judgeKind("write", compiled, `writes ${path}`);
  return judgeKind(
    "writeOutside",
    compiled,
    place === "unknown"
      ? "writes to a file whose name is known only when it runs"
      : `writes ${path}, outside the workspace`,
  );
}

/** The user's rules about paths: a deny holds for both names of a link, an allow for where it really leads. */
function judgeByRules(
  path: string,
  access: "read" | "write",
  places: Places,
  { deny, allow, alsoAllow }: CompiledPolicy,
): Verdict | undefined {
  const real = places.realPath(path);
  const speaks = ({ rule }: CompiledRule): boolean =>
    rule.kind === "path" && (rule.access === undefined || rule.access === access);
  const denies = deny.find((rule) => speaks(rule) && (rule.path(path) || rule.path(real)));
  if (denies !== undefined) {
    return {
      decision: "deny",
      rule: denies.id,
      reason: `${path} is denied by ${describeRule(denies.rule)}`,
      matched: denies.rule,
    };
  }
  if (path.includes(UNKNOWN)) return undefined;
  const allows = [...allow, ...alsoAllow].find((rule) => speaks(rule) && rule.path(real));
  if (allows === undefined) return undefined;
  return {
    decision: "allow",
    rule: allows.id,
    reason: `${path} is allowed by ${describeRule(allows.rule)}`,
    matched: allows.rule,
  };
}
