import type { Approval } from "@codexkit/daemon/client";
import type { ReactiveMap } from "./reactive-map.ts";

/** Number of approvals in memory. Beyond it, the oldest answered ones are dropped. */
const MAX_APPROVALS = 2_000;

/** Adds an approval. Unchanged parts stay the same objects, so that fields of a card keep the focus. */
export function addApproval(approvals: ReactiveMap<Approval>, approval: Approval): void {
  const known = approvals.peek(approval.id);
  approvals.set(approval.id, {
    ...approval,
    request: keepEqual(known?.request, approval.request),
    offers: keepEqual(known?.offers, approval.offers),
  });
  if (known || approvals.size <= MAX_APPROVALS) return;
  // The oldest one that was answered. Its card becomes a row without contents, far above.
  for (const id of approvals.keys()) {
    const state = approvals.peek(id)?.state;
    if (state === "open" || state === "parked") continue;
    approvals.delete(id);
    return;
  }
}

/** Returns the known value if the new one is equal. */
function keepEqual<Value>(known: Value | undefined, next: Value): Value {
  return known !== undefined && JSON.stringify(known) === JSON.stringify(next) ? known : next;
}
