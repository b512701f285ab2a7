import { CodexError } from "../errors.ts";
import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import {
  type ExecBackend,
  createSandboxedBackend,
  createUnsandboxedBackend,
  type StreamedExecOptions,
} from "./exec-backend.ts";
import type { ExecExit, ExecOptions, RunExecOptions, StartExecOptions } from "./exec-options.ts";
import { ExecProcess } from "./exec-process.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** How a command ended, and its output as UTF-8 text. */
export interface ExecResult extends ExecExit {
  readonly stdout: string;
  readonly stderr: string;
}

const RUN_LIMITS = {
  /** The server's default. Output beyond it is cut and flagged. */
  outputBytes: 1024 * 1024,
  /** The server's default of ten seconds would kill any build. */
  timeoutMs: 10 * 60_000,
} as const;

const EXEC_OPTIONS: OptionKeys<ExecOptions> = {
  cwd: true,
  env: true,
  sandbox: true,
  outputBytesCap: true,
  timeoutMs: true,
  signal: true,
};
const RUN_OPTIONS: OptionKeys<RunExecOptions> = { ...EXEC_OPTIONS, input: true };
const START_OPTIONS: OptionKeys<StartExecOptions> = { ...EXEC_OPTIONS, tty: true, size: true };

/** Runs commands on the server's machine without a thread: inside Codex's sandbox, or outside with `sandbox: "off"`. */
export class Exec {
  readonly #caller: TopicCaller;

  constructor(caller: TopicCaller) {
    this.#caller = caller;
  }

  /**
   * Runs a command to its end. A non-zero exit code is a result, not an error.
   * @example
   * const { exitCode, stdout } = await codex.exec.run(["git", "status", "--short"], { cwd });
   */
  async run(argv: readonly string[], given: RunExecOptions = {}): Promise<ExecResult> {
    rejectUnknownOptions("exec.run", given, RUN_OPTIONS);
    const { input, ...options } = given;
    const { outputBytesCap = RUN_LIMITS.outputBytes, timeoutMs = RUN_LIMITS.timeoutMs, signal } = options;
    await using process = await this.#start(argv, {
      ...options,
      outputBytesCap,
      timeoutMs,
      stdin: input !== undefined,
    });
    const printed = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
    // A command may end without reading its input. That is not an error.
    if (input !== undefined)
      void process
        .write(input)
        .then(() => process.closeStdin())
        .catch(() => {});
    for await (const { stream, bytes } of process) printed[stream].push(bytes);
    const exit = await process.exited;
    if (signal?.aborted) throw abortError(signal);
    return { ...exit, stdout: decodeText(printed.stdout), stderr: decodeText(printed.stderr) };
  }

  /** Starts a command and returns without waiting for it. There are no limits by default. */
  async start(argv: readonly string[], options: StartExecOptions = {}): Promise<ExecProcess> {
    rejectUnknownOptions("exec.start", options, START_OPTIONS);
    return this.#start(argv, { ...options, stdin: true });
  }

  // Async, so that all errors are rejections.
  async #start(argv: readonly string[], options: StreamedExecOptions): Promise<ExecProcess> {
    if (argv.length === 0) throw new CodexError("invalid_argument", "The command is empty.");
    if (options.size !== undefined && options.tty !== true) {
      throw new CodexError("invalid_argument", "The option size needs tty: true.");
    }
    const { signal } = options;
    if (signal?.aborted) throw abortError(signal);
    return ExecProcess.start(this.#createBackend([...argv], options), signal);
  }

  #createBackend(argv: string[], options: StreamedExecOptions): ExecBackend {
    const createBackend = options.sandbox === "off" ? createUnsandboxedBackend : createSandboxedBackend;
    return createBackend(this.#caller, argv, options);
  }
}

function decodeText(pieces: Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(pieces));
}

function abortError(signal: AbortSignal): CodexError {
  return new CodexError("aborted", "The command was aborted.", { cause: signal.reason });
}
