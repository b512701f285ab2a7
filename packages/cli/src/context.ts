import type { Command } from "commander";
import { lifetime } from "./process/lifetime.ts";
import { createStyle, type Style, usesColors } from "./terminal/style.ts";

/** Passed to every command implementation: the streams of the process and the common options. */
export interface CliContext {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
  /** Whether `--json` was passed. */
  readonly json: boolean;
  /** Styles for stdout. */
  readonly style: Style;
  /** Styles for stderr. */
  readonly errorStyle: Style;
  /** Whether the user can be asked: stdin and stderr are terminals, and `--json` was not passed. */
  readonly isInteractive: boolean;
  /** Aborts when the program has to end. Pass it to everything that waits. */
  readonly signal: AbortSignal;
}

interface CommonOptions {
  readonly json?: boolean;
  readonly color?: boolean;
  readonly debug?: boolean;
}

export function openContext(command: Command): CliContext {
  const { json = false, ...options } = command.optsWithGlobals<CommonOptions>();
  // `--no-color` gives `--color` a default value that the user did not choose.
  const color = command.getOptionValueSourceWithGlobals("color") === "cli" ? options.color : undefined;
  const { stdin, stdout, stderr, env } = process;
  return {
    stdin,
    stdout,
    stderr,
    env,
    json,
    style: createStyle(usesColors(stdout, env, color)),
    errorStyle: createStyle(usesColors(stderr, env, color)),
    isInteractive: stdin.isTTY && stderr.isTTY && !json,
    signal: lifetime.signal,
  };
}

/** Prints a value for `--json` on one line, so that programs can read several. */
export function printJson({ stdout }: CliContext, value: unknown): void {
  stdout.write(`${JSON.stringify(value)}\n`);
}
