import { CodexError } from "../errors.ts";
import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import {
  type ExecBackend,
  sandboxedBackend,
  type StreamedExecOptions,
  unsandboxedBackend,
} from "./exec-backend.ts";
import type { ExecExit, ExecOptions, RunExecOptions, StartExecOptions } from "./exec-options.ts";
import { ExecProcess } from "./exec-process.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** How a command ended, and what it printed, as UTF-8 text. */
export interface ExecResult extends ExecExit {
  readonly stdout: string;
  readonly stderr: string;
}

const RUN_LIMITS = {
  /** The server's own number; what is beyond it is cut and flagged. */
  outputBytes: 1024 * 1024,
  /** The server's own is ten seconds, which ends any build. */
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

/** Commands on the server's machine, without a thread: in Codex's sandbox, or outside with `sandbox: "off"`. */
export class Exec {
  readonly #caller: TopicCaller;

  constructor(caller: TopicCaller) {
    this.#caller = caller;
  }

  /**
   * Runs a command to its end. An exit code other than 0 is a result, not an error.
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
    // A command need not read its input: that it ended before is no error.
    if (input !== undefined)
      void process
        .write(input)
        .then(() => process.closeStdin())
        .catch(() => {});
    for await (const { stream, bytes } of process) printed[stream].push(bytes);
    const exit = await process.exited;
    if (signal?.aborted) throw aborted(signal);
    return { ...exit, stdout: text(printed.stdout), stderr: text(printed.stderr) };
  }

  /** Starts a command and leaves it to the caller: its output, its stdin, its terminal, its end. No limits unless told. */
  async start(argv: readonly string[], options: StartExecOptions = {}): Promise<ExecProcess> {
    rejectUnknownOptions("exec.start", options, START_OPTIONS);
    return this.#start(argv, { ...options, stdin: true });
  }

  // Async, so that whatever is wrong comes as a rejection.
  async #start(argv: readonly string[], options: StreamedExecOptions): Promise<ExecProcess> {
    if (argv.length === 0) throw new CodexError("invalid_argument", "The command is empty.");
    if (options.size !== undefined && options.tty !== true) {
      throw new CodexError("invalid_argument", "Only a terminal has a size: set tty.");
    }
    const { signal } = options;
    if (signal?.aborted) throw aborted(signal);
    return ExecProcess.start(this.#backend([...argv], options), signal);
  }

  #backend(argv: string[], options: StreamedExecOptions): ExecBackend {
    const backend = options.sandbox === "off" ? unsandboxedBackend : sandboxedBackend;
    return backend(this.#caller, argv, options);
  }
}

function text(pieces: Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(pieces));
}

function aborted(signal: AbortSignal): CodexError {
  return new CodexError("aborted", "The command was aborted.", { cause: signal.reason });
}
