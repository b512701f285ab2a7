import type { DecisionScope, Rule } from "../policy/rule.ts";
import type { PermissionProfile } from "../request/request.ts";

/** The final decision about a request, by the policy or a person. */
export type Outcome =
  | {
      readonly decision: "allow";
      /** How long the permission should last. A transport may offer less, never more. */
      readonly scope: DecisionScope;
      /** For permissions: what is granted. */
      readonly grant?: PermissionProfile | undefined;
      /** The rule that covers the request, for a transport that can remember it. */
      readonly rule?: Rule | undefined;
    }
  /** `cancel` also interrupts the turn. */
  | {
      readonly decision: "deny";
      readonly cancel: boolean;
      readonly reason: string;
      readonly rule?: Rule | undefined;
    };

/** A person's answer to a question. */
export interface Answer {
  readonly decision: "allow" | "deny";
  /** For an allow: `always` also returns rules to store. Default: `call`. */
  readonly scope?: DecisionScope | undefined;
  /** For a deny: interrupt the turn as well. */
  readonly cancel?: boolean | undefined;
  readonly reason?: string | undefined;
  /** Who answered, for the audit record. */
  readonly by?: string | undefined;
}
