import type { Approval } from "@codexkit/daemon/client";
import { isFlagged } from "../approvals/segment-rows.ts";

/**
 * Returns what approvals must have in common to be answered together: the kind, the policy's rules for the request and for each
 * part, and the offered decisions. Undefined for approvals that must be answered separately: forms, permissions, requests
 * without a verdict, and those of which the policy would deny a part.
 */
export function alikeKey({ kind, request, verdict, offers }: Approval): string | undefined {
  if (kind !== "command" && kind !== "fileChange" && kind !== "mcpTool") return undefined;
  if (verdict === null || isFlagged(verdict)) return undefined;
  const action = request.kind === "command" ? [request.action, request.network !== null] : [];
  const rules = [...new Set(verdict.segments.map(({ rule }) => rule))].toSorted();
  // "Always" is not offered for several commands, because each would store a different rule.
  const decisions = offers.filter(({ scope }) => scope !== "always").map(({ id }) => id);
  return JSON.stringify([kind, action, verdict.decision, verdict.rule, rules, decisions]);
}

/** Maps the ID of each approval to the approvals that can be answered together with it, including itself. Others are omitted. */
export function groupAlike(approvals: readonly Approval[]): ReadonlyMap<string, readonly Approval[]> {
  const groups = Map.groupBy(approvals, alikeKey);
  return new Map(
    Array.from(groups).flatMap(([key, alike]) =>
      key === undefined || alike.length < 2 ? [] : alike.map(({ id }) => [id, alike] as const),
    ),
  );
}
