import { CommanderError } from "commander";
import { createProgram } from "./program.ts";

// By default, Node opens a debugger port on this signal, through which every local user could run code here.
process.on("SIGUSR1", () => {});

/** Exit code for an invalid command line, as opposed to a failure at run time. */
const BAD_USAGE = 2;

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = reportError(error);
}
// Exits explicitly, because an open stdin would keep the process alive.
process.exit();

function reportError(error: unknown): number {
  // Commander has already printed its own errors, and the help and the version, which it also throws.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD_USAGE;
  const isKnown = error instanceof Error && "code" in error;
  // `bad_option` is also a code of the exec-server that the executor starts.
  const isUsage = isKnown && error.code === "bad_option";
  process.stderr.write(`codexkit-relay: ${isKnown ? error.message : String(error)}\n`);
  return isUsage ? BAD_USAGE : 1;
}
