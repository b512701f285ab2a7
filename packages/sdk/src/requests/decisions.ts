import type { v1, v2 } from "@codexkit/protocol";
import { z } from "zod";
import type { PermissionGrant } from "./permission-grant.ts";

/** The decisions that every approval accepts. After `decline` the turn continues; `cancel` ends it where possible. */
export type ApprovalDecision = "accept" | "acceptForSession" | "decline" | "cancel";

/** All decisions about a command. Create the amendments with `decisions`. */
export type CommandDecision = v2.CommandExecutionApprovalDecision;

export type FileChangeDecision = ApprovalDecision;

/** `accept` grants everything that was requested, for this turn. A grant is limited to what was requested. */
export type PermissionsDecision = ApprovalDecision | PermissionGrant;

/** `acceptAlways` is stored in the user's configuration. */
export type McpToolDecision = ApprovalDecision | "acceptAlways";

/** Decisions of the first protocol, or their current names. */
export type LegacyDecision = ApprovalDecision | v1.ReviewDecision;

export type AnyDecision =
  | CommandDecision
  | FileChangeDecision
  | PermissionsDecision
  | McpToolDecision
  | LegacyDecision;

/**
 * Return value of an approval handler: a decision, a decision with a reason (which the event repeats), or `"pass"`,
 * which leaves it to the next handler. If all pass, the request is denied.
 */
export type ApprovalAnswer<D> = D | "pass" | { readonly decision: D; readonly reason?: string };

/** Decisions with parameters. */
export const decisions = {
  /** Accepts, and also allows later commands that start with this prefix. */
  acceptWithPrefix: (prefix: readonly string[]): CommandDecision => ({
    acceptWithExecpolicyAmendment: { execpolicy_amendment: [...prefix] },
  }),
  /** Accepts, and also allows later connections to this host. */
  allowHost: (host: string): CommandDecision => networkRule(host, "allow"),
  /** Declines, and also denies later connections to this host. */
  denyHost: (host: string): CommandDecision => networkRule(host, "deny"),
  /** Grants some of the requested permissions. */
  grant: (
    permissions: PermissionGrant["permissions"],
    options: Omit<PermissionGrant, "permissions"> = {},
  ): PermissionGrant => ({ permissions, ...options }),
} as const;

function networkRule(host: string, action: "allow" | "deny"): CommandDecision {
  return { applyNetworkPolicyAmendment: { network_policy_amendment: { host, action } } };
}

export const decisionSchema = z.enum(["accept", "acceptForSession", "decline", "cancel"]);

/** Separates a decision from its reason, if it has one. */
export function splitReason(value: unknown): { decision: unknown; reason?: string } {
  if (typeof value !== "object" || value === null || !("decision" in value)) return { decision: value };
  const { decision, reason } = value as { decision: unknown; reason?: unknown };
  return { decision, ...(typeof reason === "string" && { reason }) };
}
