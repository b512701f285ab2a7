/** What the policy says about one request. */
export type Decision = "allow" | "deny" | "ask";

/** Something a built-in check noticed. `deny` nothing can override; `ask` means never allowed without an exact rule. */
export interface Finding {
  readonly level: "deny" | "ask";
  /** A stable id such as `privilege` or `opaque-code`. */
  readonly rule: string;
  readonly reason: string;
}

export function denied(rule: string, reason: string): Finding {
  return { level: "deny", rule, reason };
}

export function cautioned(rule: string, reason: string): Finding {
  return { level: "ask", rule, reason };
}

const WEIGHT: Record<Decision, number> = { allow: 0, ask: 1, deny: 2 };

/** Whether `a` is stricter than `b`. */
export function stricter(a: Decision, b: Decision): boolean {
  return WEIGHT[a] > WEIGHT[b];
}
