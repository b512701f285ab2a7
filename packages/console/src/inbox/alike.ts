import type { Approval } from "@codexkit/daemon/client";
import { isFlagged } from "../approvals/segment-rows.ts";

/**
 * What approvals must share to be answered together: the kind, the rules of the policy for the whole and for each part, and the
 * decisions on offer. Undefined for those that are answered one by one: forms, permissions, requests without a verdict, and those
 * of which the policy would deny a part.
 */
export function alikeKey({ kind, request, verdict, offers }: Approval): string | undefined {
  if (kind !== "command" && kind !== "fileChange" && kind !== "mcpTool") return undefined;
  if (verdict === null || isFlagged(verdict)) return undefined;
  const action = request.kind === "command" ? [request.action, request.network !== null] : [];
  const rules = [...new Set(verdict.segments.map(({ rule }) => rule))].toSorted();
  // What "always" would store differs between commands, and is not offered for several.
  const decisions = offers.filter(({ scope }) => scope !== "always").map(({ id }) => id);
  return JSON.stringify([kind, action, verdict.decision, verdict.rule, rules, decisions]);
}

/** Approvals that can be answered together with each of them, itself included. Those without any are left out. */
export function groupAlike(approvals: readonly Approval[]): ReadonlyMap<string, readonly Approval[]> {
  const groups = Map.groupBy(approvals, alikeKey);
  return new Map(
    Array.from(groups).flatMap(([key, alike]) =>
      key === undefined || alike.length < 2 ? [] : alike.map(({ id }) => [id, alike] as const),
    ),
  );
}
