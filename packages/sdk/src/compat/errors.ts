import { RemoteError } from "@codexkit/rpc";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { CodexError, type CodexErrorCode } from "../errors.ts";

/**
 * A turn that did not come to its end: it failed, or Codex could not start, refused, or died. The message is the old
 * package's; so is the name, `Error`, because programs print it. What is new is `reason`, to act on, and `cause`.
 */
export class ThreadRunError extends Error {
  /** What went wrong, as a stable word. */
  readonly reason: CodexErrorCode | undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = options?.cause instanceof CodexError ? options.cause.code : undefined;
  }
}

/** What Node's own functions reject with when their signal fires; the old package passed it on. */
class AbortError extends Error {
  override readonly name = "AbortError";
  readonly code = "ABORT_ERR";
}

export function abortError({ reason }: AbortSignal): Error {
  return new AbortError("The operation was aborted", { cause: reason });
}

/** The first line that `codex exec` wrote to stderr when it got so far as to read the prompt. */
export const PROMPT_LINE = "ParsedNotification prompt from stdin...\n";

/** The words of the old package for a `codex exec` that ended badly. */
export function exitError(how: string, stderr: string, cause?: unknown): ThreadRunError {
  return new ThreadRunError(`Codex Exec exited with ${how}: ${stderr}`, { cause });
}

/** How the server begins when it can't read the configuration, in `config/read` and in `thread/start`. */
const BAD_CONFIG = /^(?:invalid configuration|failed to load configuration): /;

/** A file of the configuration that is no TOML: the path, the line and the column come next. */
const BROKEN_FILE = /^failed to read configuration layers: (?=(?<path>.+?):(?<line>\d+):(?<column>\d+): )/;

/** A refusal of the server's, as `codex exec` reported it on stderr. */
export function refusal(error: CodexError): ThreadRunError {
  const remote = error.cause;
  if (!(remote instanceof RemoteError)) {
    return exitError("code 1", `${PROMPT_LINE}Error: ${error.message}\n`, error);
  }
  const { method, rpcCode } = remote;
  const words = remote.message.slice(`${method}: `.length, -` (${rpcCode})`.length);
  if (BAD_CONFIG.test(words)) {
    return exitError("code 1", `Error loading config.toml: ${words.replace(BAD_CONFIG, "")}\n`, error);
  }
  const place = BROKEN_FILE.exec(words)?.groups;
  if (place) {
    const report = `Error loading config.toml:\n${words.replace(BROKEN_FILE, "")}\n${excerpt(place)}`;
    return exitError("code 1", report, error);
  }
  const report = `Error: ${method}: ${method} failed: ${words} (code ${rpcCode})\n`;
  return exitError("code 1", `${PROMPT_LINE}${report}`, error);
}

/** The line of a file with a mark under a column. */
function excerpt({ path = "", line = "", column = "" }: Readonly<Record<string, string>>): string {
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

/** What a codex wrote to stderr before it died at its start, as `codex exec` would have: settings have words of their own. */
export function startReport(stderr: string): string {
  return stderr.replace(
    /^Error: (?<problem>[^]*?\nin `[^`]+`\n)\n(?:\nStack backtrace:[^]*)?$/,
    "Error loading config.toml: $<problem>\n",
  );
}

/** What `spawn` says of a program that is not there or may not be run. */
export function spawnError(path: string, cause: unknown): Error {
  const code = existsSync(path) ? "EACCES" : "ENOENT";
  const error = new Error(`spawn ${path} ${code}`, { cause });
  return Object.assign(error, { code, errno: -constants.errno[code], syscall: `spawn ${path}`, path });
}
