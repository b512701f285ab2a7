/** The policy's decision about one request. */
export type Decision = "allow" | "deny" | "ask";

const WEIGHT: Record<Decision, number> = { allow: 0, ask: 1, deny: 2 };

/** Whether `a` is stricter than `b`. */
export function isStricter(a: Decision, b: Decision): boolean {
  return WEIGHT[a] > WEIGHT[b];
}
