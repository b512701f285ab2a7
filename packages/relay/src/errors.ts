/** The reason of a `RelayError`. Match these codes, never the message. */
export type RelayErrorCode =
  /** An option or a flag is wrong. */
  | "bad_option"
  /** The registry or the rendezvous refused the credentials. */
  | "unauthorized"
  /** The registry refused the request for another reason; the message has its error code. */
  | "refused"
  /** A token with a higher epoch exists for the same subject. */
  | "replaced"
  /** No executor is registered for the environment, or it is not connected. */
  | "environment_offline"
  /** The registry, the rendezvous or the executor could not be reached. */
  | "connect_failed"
  /** The connection ended and could not be resumed. */
  | "disconnected"
  /** The other end violated the protocol: a malformed frame, a failed decryption, a wrong key. */
  | "protocol_violation"
  /** A limit was exceeded. */
  | "limit"
  /** The caller's signal was aborted. */
  | "aborted"
  /** An operation timed out. */
  | "timeout";

/** The same for every copy of this package in a program. */
const BRAND = Symbol.for("@codexkit/relay/RelayError");

/** The error of this package. */
export class RelayError extends Error {
  override readonly name = "RelayError";
  readonly code: RelayErrorCode;

  constructor(code: RelayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Whether a value is a `RelayError`, including one from another copy of this package. */
  static is(value: unknown): value is RelayError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}
