import type { Approval } from "@codexkit/daemon/client";
import type { RequestKind } from "../approvals/describe-request.ts";

export interface ApprovalGroup {
  readonly sessionId: string;
  /** Oldest first. */
  readonly ids: readonly string[];
}

/**
 * Groups approvals by session: the session that has waited longest first, with its oldest approval first. The order depends only
 * on the times of the requests, so that no card moves when another one is answered.
 */
export function groupApprovals(approvals: readonly Approval[]): readonly ApprovalGroup[] {
  const bySession = Map.groupBy(approvals.toSorted(compareAge), ({ sessionId }) => sessionId);
  return Array.from(bySession, ([sessionId, ofSession]) => ({
    sessionId,
    ids: ofSession.map(({ id }) => id),
  }));
}

function compareAge(one: Approval, other: Approval): number {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1);
}

/** Counts the approvals of each kind, for the filters. Kinds without approvals are omitted. */
export function countKinds(approvals: readonly Approval[]): readonly (readonly [RequestKind, number])[] {
  return Array.from(
    Map.groupBy(approvals, ({ kind }) => kind),
    ([kind, ofKind]) => [kind, ofKind.length] as const,
  ).toSorted(([one], [other]) => one.localeCompare(other));
}

/** The entry after or before another one. At the ends, the same entry. */
export function neighbourOf(
  ids: readonly string[],
  current: string | undefined,
  step: 1 | -1,
): string | undefined {
  const index = current === undefined ? -1 : ids.indexOf(current);
  if (index === -1) return step === 1 ? ids[0] : ids.at(-1);
  return ids[Math.min(Math.max(index + step, 0), ids.length - 1)];
}

/** The next open entry after an answered one: below it, or else the first one. */
export function nextWaiting(
  ids: readonly string[],
  answered: string,
  isWaiting: (id: string) => boolean,
): string | undefined {
  const index = ids.indexOf(answered);
  return [...ids.slice(index + 1), ...ids.slice(0, Math.max(index, 0))].find((id) => isWaiting(id));
}
