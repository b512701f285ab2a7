import { runCommand } from "./commands/run.ts";
import { describeError } from "./errors/describe-error.ts";
import { lifetime } from "./process/lifetime.ts";
import { createProgram } from "./program.ts";
import { revealText } from "./terminal/sanitize.ts";
import { createStyle, usesColors } from "./terminal/style.ts";

/** Runs the command that the process's arguments select, then exits. */
export async function runCli(): Promise<never> {
  lifetime.start();
  const isDebugging = process.argv.includes("--debug");
  try {
    // Loading the definitions of all commands takes as long as loading the rest of the command line.
    await createProgram(process.argv[2] === "run" ? [runCommand] : undefined).parseAsync();
  } catch (error) {
    const exitCode = report(error, isDebugging);
    await lifetime.settleOutput();
    return exit(exitCode);
  }
  await lifetime.settleOutput();
  return exit(process.exitCode === undefined ? 0 : Number(process.exitCode));
}

/** Prints an error as one or two lines, and returns the exit code. */
function report(error: unknown, isDebugging: boolean): number {
  const { exitCode, message, hint } = describeError(error);
  if (lifetime.exitCode === undefined && message !== undefined) {
    const style = createStyle(usesColors(process.stderr, process.env));
    const lines = [`${style.red("error:")} ${revealText(message)}`, ...(hint ? [revealText(hint)] : [])];
    process.stderr.write(`${lines.join("\n")}\n`);
  }
  if (isDebugging && error instanceof Error) process.stderr.write(`${formatStack(error)}\n`);
  return exitCode;
}

function formatStack(error: Error): string {
  const cause = error.cause instanceof Error ? `\nCaused by: ${formatStack(error.cause)}` : "";
  return (error.stack ?? error.message) + cause;
}

/** Exits explicitly, so that an open handle does not keep a finished program alive. */
function exit(exitCode: number): never {
  process.exit(lifetime.exitCode ?? exitCode);
}
