import type { v1, v2 } from "@codexkit/protocol";
import { z } from "zod";
import type { PermissionGrant } from "./permission-grant.ts";

/** The four words that every approval understands. `decline` lets the turn go on; `cancel` ends it where it can. */
export type Decision = "accept" | "acceptForSession" | "decline" | "cancel";

/** The whole vocabulary of a command: make the amendments with `decisions`. */
export type CommandDecision = v2.CommandExecutionApprovalDecision;

export type FileChangeDecision = Decision;

/** `accept` grants all that was asked, for this turn; a grant is cut down to what was asked. */
export type PermissionsDecision = Decision | PermissionGrant;

/** `acceptAlways` is kept in the user's configuration. */
export type McpToolDecision = Decision | "acceptAlways";

/** What the old protocol understands, in its words or ours. */
export type LegacyDecision = Decision | v1.ReviewDecision;

export type AnyDecision =
  | CommandDecision
  | FileChangeDecision
  | PermissionsDecision
  | McpToolDecision
  | LegacyDecision;

/**
 * What an approval handler returns: a decision, a decision with its reason (which the event repeats), or `"pass"`, which
 * leaves it to the next handler. When all pass, the answer is no.
 */
export type ApprovalAnswer<D> = D | "pass" | { readonly decision: D; readonly reason?: string };

/** Decisions that are more than a word. */
export const decisions = {
  /** Accepts, and every later command that starts with these words too. */
  acceptWithPrefix: (prefix: readonly string[]): CommandDecision => ({
    acceptWithExecpolicyAmendment: { execpolicy_amendment: [...prefix] },
  }),
  /** Accepts, and every later connection to this host too. */
  allowHost: (host: string): CommandDecision => networkRule(host, "allow"),
  /** Refuses, and every later connection to this host too. */
  denyHost: (host: string): CommandDecision => networkRule(host, "deny"),
  /** Grants some of the permissions that were asked for. */
  grant: (
    permissions: PermissionGrant["permissions"],
    options: Omit<PermissionGrant, "permissions"> = {},
  ): PermissionGrant => ({ permissions, ...options }),
} as const;

function networkRule(host: string, action: "allow" | "deny"): CommandDecision {
  return { applyNetworkPolicyAmendment: { network_policy_amendment: { host, action } } };
}

export const decisionSchema = z.enum(["accept", "acceptForSession", "decline", "cancel"]);

/** Takes a decision out of its envelope, if it has one. */
export function openAnswer(value: unknown): { decision: unknown; reason?: string } {
  if (typeof value !== "object" || value === null || !("decision" in value)) return { decision: value };
  const { decision, reason } = value as { decision: unknown; reason?: unknown };
  return { decision, ...(typeof reason === "string" && { reason }) };
}
