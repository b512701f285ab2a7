import type { Problem, ProblemType } from "../api/problem.ts";

/** The same symbol in every copy of this package in a program. */
const BRAND = Symbol.for("@codexkit/daemon/DaemonClientError");

/** A problem that the daemon responded with, or a response that is not from a daemon. */
export class DaemonClientError extends Error {
  override readonly name = "DaemonClientError";
  /** The type of the problem. `not_a_daemon` if the response has no problem, for example because a proxy sent it. */
  readonly code: ProblemType | "not_a_daemon";
  readonly status: number;
  readonly problem: Problem | undefined;

  constructor(status: number, problem: Problem | undefined, message: string) {
    super(message);
    this.code = problem?.type ?? "not_a_daemon";
    this.status = status;
    this.problem = problem;
  }

  /** Whether a value is a `DaemonClientError`, including one from another copy of this package. */
  static is(value: unknown): value is DaemonClientError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }

  static async fromResponse(response: Response): Promise<DaemonClientError> {
    const { status } = response;
    if (response.headers.get("content-type")?.startsWith("application/problem+json")) {
      const problem = (await response.json()) as Problem;
      return new DaemonClientError(status, problem, `${problem.title}: ${problem.detail}`);
    }
    return new DaemonClientError(
      status,
      undefined,
      `Expected JSON from a daemon, got status ${status} from ${response.url}.`,
    );
  }
}
