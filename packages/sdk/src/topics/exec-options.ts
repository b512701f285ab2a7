import type { v2 } from "@codexkit/protocol";

/** Where a command runs. */
export type ExecSandbox =
  /** Outside of any sandbox, with the rights of the server. */
  | "off"
  /** A permission profile by its id. */
  | { readonly profile: string }
  | v2.SandboxPolicy;

export interface ExecOptions {
  /** The folder to run in; the server's own without it. A command outside of the sandbox must say. */
  readonly cwd?: string;
  /** Variables in addition to the server's own; `null` takes one away. */
  readonly env?: Readonly<Record<string, string | null>>;
  /** The sandbox of the user's config without it. */
  readonly sandbox?: ExecSandbox;
  /** How many bytes of each stream are kept. */
  readonly outputBytesCap?: number;
  /** How long it may run before the server ends it, with exit code 124. */
  readonly timeoutMs?: number;
  /** Ends the command. */
  readonly signal?: AbortSignal;
}

export interface StartExecOptions extends ExecOptions {
  /** Gives it a terminal: its output is then one stream, `stdout`, with line ends and colours as a terminal has them. */
  readonly tty?: boolean;
  /** The terminal's size. */
  readonly size?: v2.CommandExecTerminalSize;
}

export interface RunExecOptions extends ExecOptions {
  /** What it reads from its stdin; nothing without it. */
  readonly input?: string | Uint8Array;
}

/** How a command ended. */
export interface ExecExit {
  readonly exitCode: number;
  /** There was more output than `outputBytesCap`. */
  readonly stdoutCapReached: boolean;
  readonly stderrCapReached: boolean;
  /** A child of the command held its output open after it ended, and the server did not wait for it. */
  readonly outputDrainTimedOut: boolean;
}
