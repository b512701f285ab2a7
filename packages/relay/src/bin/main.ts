import { CommanderError } from "commander";
import { createProgram } from "./program.ts";

// Node's default for this signal is to open a debugger port, which would let every local user run code here.
process.on("SIGUSR1", () => {});

/** Of a command line that can't be understood, as opposed to a failure at run time. */
const BAD_USAGE = 2;

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = reportError(error);
}
// Not left to the event loop: an open stdin must not keep a program alive that is done.
process.exit();

function reportError(error: unknown): number {
  // Commander has printed its own errors, and help and the version, which are none.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD_USAGE;
  const isKnown = error instanceof Error && "code" in error;
  // `bad_option` is also a code of the exec-server that the executor starts.
  const isUsage = isKnown && error.code === "bad_option";
  process.stderr.write(`codexkit-relay: ${isKnown ? error.message : String(error)}\n`);
  return isUsage ? BAD_USAGE : 1;
}
