import { portOf, readEndpoint, withBrackets, type Endpoint } from "../network/endpoint.ts";
import { kindVerdict } from "./judge-path.ts";
import { rangeOf } from "../network/host-range.ts";
import type { NetworkTarget } from "../request/request.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import {
  defaultVerdict,
  evaluation,
  judgeByFirstRule,
  refusal,
  type PolicyEvaluation,
  type Verdict,
} from "./evaluation.ts";

/** A host as the wire names it. */
export function evaluateTarget(target: NetworkTarget, policy: CompiledPolicy): PolicyEvaluation {
  const { host, protocol, port } = target;
  // The wire names IPv6 addresses without brackets.
  const read = readEndpoint(withBrackets(host));
  const endpoint = read && { host: read.host, port: port ?? read.port ?? portOf(protocol) };
  const verdict = evaluateEndpoint(endpoint, true, policy);
  // A host in the policy's own lists is named for good.
  const isListed = verdict.rule === "network.allow" || verdict.rule === "network.deny";
  const scope = verdict.matched?.scope ?? (isListed ? "always" : "call");
  return evaluation(verdict, verdict.decision === "ask" ? {} : { scope });
}

/** Whether a host may be reached. `sends`: data goes there, so that a preset's reading list is not enough. */
export function evaluateEndpoint(
  endpoint: Endpoint | undefined,
  sends: boolean,
  compiled: CompiledPolicy,
): Verdict {
  const { policy, preset } = compiled;
  const fallback = (reason: string): Verdict =>
    kindVerdict("network", compiled, reason, compiled.exclusive.host);
  if (endpoint === undefined) return fallback("a host that is not known before it runs");
  const { host } = endpoint;
  const range = rangeOf(host);
  if (range === "metadata" && preset.safety)
    return refusal("metadata-service", `${host} gives out the machine's credentials`);
  const matches = (rule: CompiledRule): boolean => rule.host(endpoint);
  const ruled = judgeByFirstRule(compiled, host, { tightens: matches, allows: matches });
  if (ruled?.decision === "deny") return ruled;
  if (compiled.hostsDenied.some((denies) => denies(endpoint)))
    return { decision: "deny", rule: "network.deny", reason: `${host} is a denied host` };
  if (ruled !== undefined) return ruled;
  if (compiled.hostsAllowed.some((allows) => allows(endpoint)))
    return { decision: "allow", rule: "network.allow", reason: `${host} is an allowed host` };
  if (compiled.exclusive.host) return defaultVerdict(policy.default, true, "");
  if (range === "loopback" || range === "private") {
    const choice = policy.network[range] ?? preset[range];
    const where = range === "loopback" ? "this machine" : "in a private network";
    return {
      decision: choice === "default" ? policy.default : choice,
      rule: `network.${range}`,
      reason: `${host} is ${where}`,
    };
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
