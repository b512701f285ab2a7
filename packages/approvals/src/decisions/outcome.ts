import type { Lasting } from "../policy/rule.ts";

/** What was decided in the end, by the policy or by a person. */
export type Outcome =
  | { readonly decision: "allow"; readonly lasting: Lasting }
  /** `cancel` also interrupts the turn. */
  | { readonly decision: "deny"; readonly cancel: boolean; readonly reason: string };

/** A value that goes back over the wire, in the shape that the request's method wants. */
export type WireResponse = Readonly<Record<string, unknown>>;
