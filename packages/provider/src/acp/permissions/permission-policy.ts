import { definePolicy, type Policy, PolicyError, type Rule } from "@codexkit/approvals";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import { ProviderError } from "../../contract/provider-error.ts";

/**
 * The policy for an ACP agent's permission requests: safety rules first, then the spec's deny patterns, then its allow patterns
 * (exclusive), then its default. Writes are limited to what the spec's sandbox would permit.
 *
 * @throws {ProviderError} `invalid_spec` for an invalid pattern.
 */
export function permissionPolicy(spec: AgentSpec): Policy {
  const { allowPatterns = [], disallowPatterns = [], defaultDecision } = spec.permissionConfig ?? {};
  const allows = defaultDecision === undefined || defaultDecision === "allow";
  const rules = {
    workspace: spec.cwd,
    deny: disallowPatterns.map((pattern): Rule => ({ kind: "regex", pattern })),
    // A policy matches allow patterns against the whole command; a spec's pattern matches anywhere in it.
    allow: allowPatterns.map((pattern): Rule => ({ kind: "regex", pattern: `.*?(?:${pattern}).*` })),
  };
  try {
    return allows
      ? definePolicy({ ...rules, preset: "danger-full-access", default: "allow", effects: confined(spec) })
      : definePolicy({ ...rules, preset: "read-only", default: "deny", effects: { read: "deny" } });
  } catch (error) {
    if (!PolicyError.is(error)) throw error;
    const message = `permissionConfig has an invalid pattern. ${error.message}`;
    throw new ProviderError("invalid_spec", message, { cause: error });
  }
}

function confined({ sandboxEnabled = true, sandboxLevel = "workspace-write" }: AgentSpec): Policy["effects"] {
  if (!sandboxEnabled || sandboxLevel === "full-access") return {};
  return sandboxLevel === "read-only" ? { write: "deny", writeOutside: "deny" } : { writeOutside: "deny" };
}
