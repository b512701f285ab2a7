import { RemoteError } from "@codexkit/rpc";
import { existsSync } from "node:fs";
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
export const PROMPT_LINE = "Reading prompt from stdin...\n";

/** The words of the old package for a `codex exec` that ended badly. */
export function exitError(how: string, stderr: string, cause?: unknown): ThreadRunError {
  return new ThreadRunError(`Codex Exec exited with ${how}: ${stderr}`, { cause });
}

/** How the server begins when it can't read the configuration, in `config/read` and in `thread/start`. */
const BAD_CONFIG = /^(?:invalid configuration|failed to load configuration): /;

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
  const report = `Error: ${method}: ${method} failed: ${words} (code ${rpcCode})\n`;
  return exitError("code 1", `${PROMPT_LINE}${report}`, error);
}

/** What `spawn` says of a program that is not there or may not be run. */
export function spawnError(path: string, cause: unknown): Error {
  const code = existsSync(path) ? "EACCES" : "ENOENT";
  const error = new Error(`spawn ${path} ${code}`, { cause });
  return Object.assign(error, { code, errno: -constants.errno[code], syscall: `spawn ${path}`, path });
}
