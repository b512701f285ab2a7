/** Exit codes of every command, as listed in `docs/cli.md`. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  overLimit: 4,
  hangUp: 129,
  interrupted: 130,
  brokenPipe: 141,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface CliErrorOptions extends ErrorOptions {
  /** What the user can do about it. Printed on a second line. */
  readonly hint?: string | undefined;
}

/** An error that is printed as one or two lines, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  constructor(exitCode: ExitCode, message: string, { hint, ...options }: CliErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** Creates an error for an invalid argument or option, with exit code 2. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, message, { hint });
}

/**
 * Ends the program with an exit code and without a message, because the reason has already been printed or
 * cannot be read any more.
 */
export class SilentExit extends Error {
  override readonly name = "SilentExit";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super(`Exit with code ${exitCode}.`);
    this.exitCode = exitCode;
  }
}
