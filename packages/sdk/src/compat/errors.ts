import { RemoteError } from "@codexkit/rpc";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { CodexError, type CodexErrorCode } from "../errors.ts";

const BRAND = Symbol.for("codexkit.ThreadRunError");

/**
 * Thrown if a turn fails, or if Codex can't start, rejects a request or crashes. The message and the name, `Error`, are those of
 * `@openai/codex-sdk`, because programs print them. `reason` and `cause` are additions.
 */
export class ThreadRunError extends Error {
  /** A stable error code. */
  readonly reason: CodexErrorCode | undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = CodexError.is(options?.cause) ? options.cause.code : undefined;
  }

  /** Whether a value is a `ThreadRunError`, including one from another copy of this package. */
  static is(value: unknown): value is ThreadRunError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}

/** Same as the error that Node's own functions throw for an aborted signal, which the original passes on. */
class AbortError extends Error {
  override readonly name = "AbortError";
  readonly code = "ABORT_ERR";
}

export function abortError({ reason }: AbortSignal): Error {
  return new AbortError("The operation was aborted", { cause: reason });
}

/** The first line that `codex exec` writes to stderr before it reads the prompt. */
export const PROMPT_LINE = "Reading prompt from stdin...\n";

/** The original's error for a `codex exec` that failed. */
export function exitError(how: string, stderr: string, cause?: unknown): ThreadRunError {
  return new ThreadRunError(`Codex Exec exited with ${how}: ${stderr}`, { cause });
}

/** The server's error for an invalid configuration, in `config/read` and `thread/start`. */
const BAD_CONFIG = /^(?:invalid configuration|failed to load configuration): /;

/** The server's error for a configuration file that is not TOML, followed by its path, line and column. */
const BROKEN_FILE = /^failed to read configuration layers: (?=(?<path>.+?):(?<line>\d+):(?<column>\d+): )/;

/** Converts a rejection by the server to the report of `codex exec` on stderr. */
export function toRefusalError(error: CodexError): ThreadRunError {
  const remote = error.cause;
  if (!(remote instanceof RemoteError)) {
    return exitError("code 1", `${PROMPT_LINE}Error: ${error.message}\n`, error);
  }
  const { method, rpcCode } = remote;
  const message = remote.message.slice(`${method}: `.length, -` (${rpcCode})`.length);
  if (BAD_CONFIG.test(message)) {
    return exitError("code 1", `Error loading config.toml: ${message.replace(BAD_CONFIG, "")}\n`, error);
  }
  const location = BROKEN_FILE.exec(message)?.groups;
  if (location) {
    const report = `Error loading config.toml:\n${message.replace(BROKEN_FILE, "")}\n${formatExcerpt(location)}`;
    return exitError("code 1", report, error);
  }
  const report = `Error: ${method}: ${method} failed: ${message} (code ${rpcCode})\n`;
  return exitError("code 1", `${PROMPT_LINE}${report}`, error);
}

/** Formats a line of a file with a mark under a column. */
function formatExcerpt({ path = "", line = "", column = "" }: Readonly<Record<string, string>>): string {
  const text = readLines(path)[Number(line) - 1];
  if (text === undefined) return "";
  const margin = " ".repeat(line.length);
  return `${margin} |\n${line} | ${text}\n${margin} | ${" ".repeat(Number(column) - 1)}^\n`;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}

/** Converts the stderr of a codex that failed to start to that of `codex exec`, which reports invalid settings differently. */
export function toStartReport(stderr: string): string {
  return stderr.replace(
    /^Error: (?<problem>[^]*?\nin `[^`]+`\n)\n(?:\nStack backtrace:[^]*)?$/,
    "Error loading config.toml: $<problem>\n",
  );
}

/** The error of `spawn` for a program that does not exist or is not executable. */
export function spawnError(path: string, cause: unknown): Error {
  const code = existsSync(path) ? "EACCES" : "ENOENT";
  const error = new Error(`spawn ${path} ${code}`, { cause });
  return Object.assign(error, { code, errno: -constants.errno[code], syscall: `spawn ${path}`, path });
}
