import type { ProblemType } from "./api/problem.ts";

/** The reason of a {@link DaemonError}: the type of a problem, or a reason that the API never reports. */
export type DaemonErrorCode =
  | ProblemType
  /** Another owner has taken over the session. The former owner must stop working on it. */
  | "fenced"
  /** The options of the daemon are invalid, or would make it reachable without a token. */
  | "bad_options"
  /** The daemon or its database was closed. */
  | "closed"
  /** The command does not exist. */
  | "command_not_found"
  /** The new bytes of a rollout file leave a gap after the stored bytes. */
  | "rollout_mismatch";

/** The same for every copy of this package in a program. */
const BRAND = Symbol.for("@codexkit/daemon/DaemonError");

export interface DaemonErrorOptions extends ErrorOptions {
  /** Further members of the problem, such as the winner of an approval. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The error of this package. */
export class DaemonError extends Error {
  override readonly name = "DaemonError";
  readonly code: DaemonErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: DaemonErrorCode, message: string, options?: DaemonErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = options?.details ?? {};
  }

  /** Whether a value is a `DaemonError`, including one from another copy of this package. */
  static is(value: unknown): value is DaemonError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}
