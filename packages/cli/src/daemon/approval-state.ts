import type { Approval } from "@codexkit/daemon/client";

/** The states in which an approval can be answered. No process waits for a parked one. */
export const ANSWERABLE = ["open", "parked"] as const satisfies readonly Approval["state"][];

export function isAnswerable({ state }: Pick<Approval, "state">): boolean {
  return state === "open" || state === "parked";
}
