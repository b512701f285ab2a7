/** What must be ended when this process ends without having ended it. */
export interface EndsWithProcess {
  /** Ends it now, without waiting. */
  endNow(): void;
}

const owned = new Set<EndsWithProcess>();

/**
 * From now on ends `one` when this process exits: by `process.exit`, by an uncaught error, or because nothing is left
 * to do. Not by a signal: a listener for SIGINT would change what Ctrl+C does to the program, and two libraries that
 * listen each take the other for the program's own handler. A program that dies of a signal leaves what `kill -9`
 * leaves: Codex sees the end of its stdin and goes, and the next start sweeps the rest.
 */
export function endAtExit(one: EndsWithProcess): void {
  owned.add(one);
  if (owned.size === 1) process.on("exit", endAll);
}

/** Takes it back. With the last one the listener goes too. */
export function forgetAtExit(one: EndsWithProcess): void {
  if (owned.delete(one) && owned.size === 0) process.off("exit", endAll);
}

function endAll(): void {
  for (const one of owned) one.endNow();
}
