/** The reason for an `ExecError`. Match on these codes, never on the message. */
export type ExecErrorCode =
  /** The connection ended and could not be resumed; `cause` says why. */
  | "disconnected"
  /** The server could not be reached, or the handshake failed. */
  | "connect_failed"
  /** The server program could not be started. */
  | "launch_failed"
  /** An option or a flag is invalid. */
  | "bad_option"
  /** The server rejected the request: `rpcCode` has the JSON-RPC error code. */
  | "refused"
  /** The path does not exist on the server (-32004). */
  | "not_found"
  /** Output was lost: the client was disconnected or read too slowly, and only the newest output is kept. */
  | "output_lost"
  /**
   * The server violated the protocol: a duplicate sequence number, output after the end, or an oversized
   * event.
   */
  | "protocol_violation"
  /** The process accepts no input because its stdin is closed or the process is unknown. */
  | "stdin_closed"
  /** A local limit was exceeded: see `SERVER_LIMITS` and `CLIENT_LIMITS`. */
  | "limit"
  /** The caller's signal was aborted. */
  | "aborted"
  /** An operation timed out. */
  | "timeout";

/** Shared by all copies of this package in a program. */
const BRAND = Symbol.for("@codexkit/exec-server/ExecError");

/** The error class of this package. */
export class ExecError extends Error {
  override readonly name = "ExecError";
  readonly code: ExecErrorCode;
  /** The JSON-RPC error code of the server's response, for `refused` and `not_found`. */
  readonly rpcCode: number | undefined;

  constructor(code: ExecErrorCode, message: string, options?: ErrorOptions & { rpcCode?: number }) {
    super(message, options);
    this.code = code;
    this.rpcCode = options?.rpcCode;
  }

  /** Whether a value is an `ExecError`, including one from another copy of this package. */
  static is(value: unknown): value is ExecError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}
