import type { Decision } from "../decision.ts";
import { type Endpoint, readEndpoint } from "../network/endpoint.ts";
import { rangeOf } from "../network/host-range.ts";
import type { NetworkTarget } from "../request/request.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { defaultVerdict, type Verdict, judgeByFirstRule } from "./evaluation.ts";

const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/** A host as the wire names it. */
export function evaluateTarget({ host, protocol, port }: NetworkTarget, policy: CompiledPolicy): Verdict {
  // The wire names IPv6 addresses without brackets.
  const read = readEndpoint(/^[0-9a-f]*:[0-9a-f:.]*:[0-9a-f.]*$/i.test(host) ? `[${host}]` : host);
  const endpoint =
    read === undefined ? undefined : { host: read.host, port: port ?? read.port ?? PORTS[protocol ?? ""] };
  return evaluateEndpoint(endpoint, true, policy);
}

/** Whether a host may be reached. `sends`: data goes there, so that a preset's reading list is not enough. */
export function evaluateEndpoint(
  endpoint: Endpoint | undefined,
  sends: boolean,
  compiled: CompiledPolicy,
): Verdict {
  const { policy, preset } = compiled;
  if (endpoint === undefined) return fallback(compiled, "a host that is not known before it runs");
  const { host } = endpoint;
  const range = rangeOf(host);
  if (range === "metadata" && preset.safety) {
    return {
      decision: "deny",
      rule: "safety/metadata-service",
      reason: `${host} gives out the machine's credentials`,
    };
  }
  const matches = (rule: CompiledRule): boolean => rule.host(endpoint);
  const ruled = judgeByFirstRule(compiled, host, { tightens: matches, allows: matches });
  if (ruled?.decision === "deny") return ruled;
  if (compiled.hostsDenied.some((denies) => denies(endpoint)))
    return { decision: "deny", rule: "network.deny", reason: `${host} is a denied host` };
  if (ruled !== undefined) return ruled;
  if (compiled.hostsAllowed.some((allows) => allows(endpoint)))
    return { decision: "allow", rule: "network.allow", reason: `${host} is an allowed host` };
  if (compiled.exclusive.host) return defaultVerdict(policy.default, true, "");
  if (range !== "public") {
    const choice =
      range === "loopback"
        ? (policy.network.loopback ?? preset.loopback)
        : (policy.network.private ?? preset.private);
    const decision: Decision = choice === "default" ? policy.default : choice;
    return {
      decision,
      rule: `network.${range}`,
      reason: `${host} is ${range === "loopback" ? "this machine" : "in a private network"}`,
    };
  }
  const reads = compiled.presetHosts.some((allows) => allows(endpoint));
  if (reads && (!sends || preset.allows.has("network")))
    return {
      decision: "allow",
      rule: `preset/${policy.preset}/hosts`,
      reason: `${host} is known to the preset`,
    };
  return fallback(compiled, sends ? `sends data to ${host}` : `reaches ${host}`);
}

function fallback({ policy, preset, exclusive }: CompiledPolicy, reason: string): Verdict {
  const chosen = policy.effects.network;
  if (chosen !== undefined) return { decision: chosen, rule: "effects.network", reason };
  if (preset.allows.has("network"))
    return { decision: "allow", rule: `preset/${policy.preset}/network`, reason };
  return defaultVerdict(policy.default, exclusive.host, reason);
}
