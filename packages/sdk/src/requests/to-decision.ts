import type { Outcome, PermissionProfile, Rule } from "@codexkit/approvals";
import { type AnyDecision, decisions } from "./decisions.ts";
import type { CommandApproval } from "./command-approval.ts";
import type { AnyApproval } from "./handlers.ts";
import type { PermissionGrant } from "./permission-grant.ts";
import type { PermissionsApproval } from "./permissions-approval.ts";

/**
 * Converts the outcome of a policy to a decision. The decision is limited to what the server offers only when it is
 * serialised, so that this happens in one place.
 */
export function toDecision(approval: AnyApproval, outcome: Outcome): AnyDecision {
  if (outcome.decision === "deny") {
    if (outcome.cancel) return "cancel";
    return approval.kind === "command" ? refuseCommand(approval, outcome.rule) : "decline";
  }
  const { scope, grant, rule } = outcome;
  const isRemembered = scope !== "call";
  switch (approval.kind) {
    case "command":
      if (scope !== "always") return isRemembered ? "acceptForSession" : "accept";
      return acceptPermanently(approval, rule) ?? "acceptForSession";
    case "mcpTool":
      return scope === "always" ? "acceptAlways" : isRemembered ? "acceptForSession" : "accept";
    case "permissions":
      return decisions.grant(grantOf(approval, grant), { scope: isRemembered ? "session" : "turn" });
    case "fileChange":
    case "legacyCommand":
    case "legacyPatch":
      return isRemembered ? "acceptForSession" : "accept";
  }
}

/** The requested rules that are granted. */
function grantOf(
  { permissions: { fileSystem: asked } }: PermissionsApproval,
  grant: PermissionProfile | undefined,
): PermissionGrant["permissions"] {
  const { network, fileSystem } = grant ?? {};
  const granted = new Set<unknown>(fileSystem?.entries);
  return {
    network,
    fileSystem: fileSystem && {
      read: fileSystem.read,
      write: fileSystem.write,
      ...(asked?.entries && { entries: asked.entries.filter((entry) => granted.has(entry)) }),
    },
  };
}

/** A host that a rule denies permanently need not be asked about again. */
function refuseCommand(
  { network, proposedNetworkRules }: CommandApproval,
  rule: Rule | undefined,
): AnyDecision {
  const isOffered = proposedNetworkRules.some(
    ({ host, action }) => host === network?.host && action === "deny",
  );
  return network !== undefined && isOffered && rule?.kind === "host" && rule.scope === "always"
    ? decisions.denyHost(network.host)
    : "decline";
}

/** Codex's own rules are amended only if the policy's rule allows every command that the amendment covers. */
function acceptPermanently(
  { network, proposedNetworkRules, proposedPrefix }: CommandApproval,
  rule: Rule | undefined,
): AnyDecision | undefined {
  if (network !== undefined) {
    const isOffered = proposedNetworkRules.some(
      ({ host, action }) => host === network.host && action === "allow",
    );
    return isOffered ? decisions.allowHost(network.host) : undefined;
  }
  return proposedPrefix !== undefined && covers(rule, proposedPrefix)
    ? decisions.acceptWithPrefix(proposedPrefix)
    : undefined;
}

function covers(rule: Rule | undefined, prefix: readonly string[]): boolean {
  if (rule?.kind !== "prefix" || prefix.length < rule.argv.length) return false;
  return rule.argv.every((word, index) => [word].flat().includes(prefix[index] ?? ""));
}
