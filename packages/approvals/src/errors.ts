/** Why a policy could not be created or parsed. Codes are stable: match them, not the message. */
export type PolicyErrorCode =
  /** The input is not a valid policy. `cause` lists the invalid fields. */
  | "invalid_policy"
  /** A regular expression does not compile in the linear-time engine, which has no look-around and back-references. */
  | "invalid_regex"
  /** A glob, a host pattern or an argv rule is empty or malformed. */
  | "invalid_rule";

const BRAND = Symbol.for("codexkit.PolicyError");

/** The error class of this package. `evaluatePolicy` never throws it, because a policy is checked when it is created. */
export class PolicyError extends Error {
  override readonly name = "PolicyError";
  readonly code: PolicyErrorCode;

  constructor(code: PolicyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static {
    // On the prototype, so that it appears neither in the type nor in a printed error.
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** Whether a value is a `PolicyError`, including one from another copy of this package. */
  static is(value: unknown): value is PolicyError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}
