import type { v2 } from "@codexkit/protocol";

/** Where a command runs. */
export type ExecSandbox =
  /** No sandbox: the command has the server's permissions. */
  | "off"
  /** A permission profile, by id. */
  | { readonly profile: string }
  | v2.SandboxPolicy;

export interface ExecOptions {
  /** Working directory. Default: the server's. Required with `sandbox: "off"`. */
  readonly cwd?: string;
  /** Environment variables added to the server's. `null` removes one. */
  readonly env?: Readonly<Record<string, string | null>>;
  /** Default: the sandbox of the user's config. */
  readonly sandbox?: ExecSandbox;
  /** Maximum number of bytes per stream. */
  readonly outputBytesCap?: number;
  /** The server kills the command after this time, with exit code 124. */
  readonly timeoutMs?: number;
  /** Kills the command when it aborts. */
  readonly signal?: AbortSignal;
}

export interface StartExecOptions extends ExecOptions {
  /** Runs the command in a terminal. All output is then `stdout`, with the terminal's line endings and colours. */
  readonly tty?: boolean;
  /** The terminal's size. */
  readonly size?: v2.CommandExecTerminalSize;
}

export interface RunExecOptions extends ExecOptions {
  /** Data for stdin. Default: an empty stdin. */
  readonly input?: string | Uint8Array;
}

/** How a command ended. */
export interface ExecExit {
  readonly exitCode: number;
  /** Whether the output exceeded `outputBytesCap`. */
  readonly stdoutCapReached: boolean;
  readonly stderrCapReached: boolean;
  /** Whether a child process kept the output open after the command ended. The server stopped waiting for it. */
  readonly outputDrainTimedOut: boolean;
}
