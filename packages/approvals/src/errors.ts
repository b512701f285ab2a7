/** Why a policy could not be made or read. Stable: match these, never the message. */
export type PolicyErrorCode =
  /** A stored policy is not what `definePolicy` makes; `cause` lists where. */
  | "invalid_policy"
  /** A regular expression does not compile in the linear-time engine (look-around and back-references are not in it). */
  | "invalid_regex"
  /** A glob, a host pattern or an argv rule is empty or malformed. */
  | "invalid_rule";

const BRAND = Symbol.for("codexkit.PolicyError");

/** The one error of this package. `evaluatePolicy` never throws it: a policy is checked when it is made. */
export class PolicyError extends Error {
  override readonly name = "PolicyError";
  readonly code: PolicyErrorCode;

  constructor(code: PolicyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static {
    // On the prototype, so that neither the type nor a printed error shows it.
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** Whether a value is a `PolicyError`, also one from another copy of this package. */
  static is(value: unknown): value is PolicyError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}
