/** Why something failed on this side. Stable: match these, never the message. */
export type ExecErrorCode =
  /** The connection ended and could not be resumed; `cause` says why. */
  | "disconnected"
  /** The server could not be reached, or the handshake failed. */
  | "connect_failed"
  /** A program that was to be launched did not start. */
  | "launch_failed"
  /** An option or a flag is wrong. */
  | "bad_option"
  /** The server refused the request: `rpcCode` has its number. */
  | "refused"
  /** The path does not exist on the server (-32004). */
  | "not_found"
  /** Output was lost between two connections: the server keeps only the newest of it. */
  | "output_lost"
  /** The server broke the protocol: a number used twice, output behind the end, an event too large to keep. */
  | "protocol_violation"
  /** The process can take no input: its stdin is closed, or it is not known. */
  | "stdin_closed"
  /** A named limit of this side was met: see `SERVER_LIMITS` and `CLIENT_LIMITS`. */
  | "limit"
  /** The caller's signal fired. */
  | "aborted"
  /** A wait took longer than its limit. */
  | "timeout";

/** The same for every copy of this package in a program. */
const BRAND = Symbol.for("@codexkit/exec-server/ExecError");

/** The error of this package. */
export class ExecError extends Error {
  override readonly name = "ExecError";
  readonly code: ExecErrorCode;
  /** The number that the server answered with, for `refused` and `not_found`. */
  readonly rpcCode: number | undefined;

  constructor(code: ExecErrorCode, message: string, options?: ErrorOptions & { rpcCode?: number }) {
    super(message, options);
    this.code = code;
    this.rpcCode = options?.rpcCode;
  }

  /** Whether a value is an `ExecError`, also one of another copy of this package. */
  static is(value: unknown): value is ExecError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}
