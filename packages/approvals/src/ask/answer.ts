import type { Lasting } from "../policy/rule.ts";

/** What somebody says to a question. */
export interface Answer {
  readonly decision: "allow" | "deny";
  /** For an allow: `always` also returns rules to store. `call` unless said otherwise. */
  readonly lasting?: Lasting | undefined;
  /** For a deny: interrupt the turn as well. */
  readonly cancel?: boolean | undefined;
  readonly reason?: string | undefined;
  /** Who answered, for the audit record. */
  readonly by?: string | undefined;
}
