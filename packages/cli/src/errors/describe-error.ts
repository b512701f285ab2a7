import { CommanderError } from "commander";
import { CliError, EXIT, type ExitCode, SilentExit } from "./cli-error.ts";

export interface ErrorDescription {
  readonly exitCode: ExitCode;
  /** Undefined if nothing should be printed. */
  readonly message: string | undefined;
  readonly hint?: string | undefined;
}

/** Hints for errors of the SDK and the daemon's client, by `code`. */
const HINTS: Readonly<Record<string, string>> = {
  codex_not_found: "Run `npm install @openai/codex`, or set CODEX_BIN to the path of codex.",
  codex_too_old: "Run `npm install @openai/codex@latest`.",
  invalid_config: "Correct the file, or choose another folder with CODEX_HOME.",
  thread_not_found: "Run `codexkit threads` to see the threads on this machine.",
  thread_locked: "Close the other program, or continue from a copy with --fork.",
  model_not_found: "Run `codexkit models` to see the available models.",
  connect_failed: "Check the address. Run `codexkit doctor` to check this machine.",
  unauthorized: "Set CODEXKIT_TOKEN, or pass --token-file with a valid token.",
  forbidden: "Use a token that has this scope. `codexkit token create` creates one.",
  session_not_found: "Run `codexkit sessions` to see the daemon's sessions.",
  approval_not_found: "Run `codexkit inbox` to see the open entries.",
  store_locked: "Use that daemon, or choose another folder with --store.",
  store_too_new: "Update codexkit, or choose another folder with --store.",
  store_unavailable: "Check the URL passed to --store, and that the database is running.",
  not_a_daemon: "Check the URL. It is not the URL of a codexkit daemon.",
};

const COMMANDER_DONE: ReadonlySet<string> = new Set([
  "commander.help",
  "commander.helpDisplayed",
  "commander.version",
]);

/** Returns the exit code and the message for any error that ends the program. */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof SilentExit) return { exitCode: error.exitCode, message: undefined };
  if (error instanceof CliError)
    return { exitCode: error.exitCode, message: error.message, hint: error.hint };
  if (error instanceof CommanderError) {
    // Commander has already printed its message and a suggestion.
    return { exitCode: COMMANDER_DONE.has(error.code) ? EXIT.done : EXIT.usage, message: undefined };
  }
  if (!(error instanceof Error)) return { exitCode: EXIT.failed, message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { exitCode: EXIT.failed, message: error.message || error.name, hint: HINTS[code] };
}
