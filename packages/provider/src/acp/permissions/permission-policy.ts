import { definePolicy, type Policy, PolicyError, type Rule } from "@codexkit/approvals";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import { ProviderError } from "../../contract/provider-error.ts";

/**
 * Who answers an ACP agent: what keeps the machine safe, then the spec's denies, then its allow list, which is exclusive, then
 * its default. Writes stay where the sandbox of the spec would keep them.
 *
 * @throws {ProviderError} `invalid_spec` for a pattern that can't be read.
 */
export function permissionPolicy(spec: AgentSpec): Policy {
  const { allowPatterns = [], disallowPatterns = [], defaultDecision } = spec.permissionConfig ?? {};
  const allows = defaultDecision === undefined || defaultDecision === "allow";
  const rules = {
    workspace: spec.cwd,
    deny: disallowPatterns.map((pattern): Rule => ({ kind: "regex", pattern })),
    // A policy wants an allowing pattern to match all of a command; a spec's is searched for.
    allow: allowPatterns.map((pattern): Rule => ({ kind: "regex", pattern: `.*?(?:${pattern}).*` })),
  };
  try {
    return allows
      ? definePolicy({ ...rules, preset: "danger-full-access", default: "allow", effects: confined(spec) })
      : definePolicy({ ...rules, preset: "read-only", default: "deny", effects: { read: "deny" } });
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    const message = `A pattern of permissionConfig can't be read. ${error.message}`;
    throw new ProviderError("invalid_spec", message, { cause: error });
  }
}

function confined({ sandboxEnabled = true, sandboxLevel = "workspace-write" }: AgentSpec): Policy["effects"] {
  if (!sandboxEnabled || sandboxLevel === "full-access") return {};
  return sandboxLevel === "read-only" ? { write: "deny", writeOutside: "deny" } : { writeOutside: "deny" };
}
