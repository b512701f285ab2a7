/** A resource that must end with this process. */
export interface EndsWithProcess {
  /** Ends the resource synchronously. */
  endNow(): void;
}

const owned = new Set<EndsWithProcess>();

/**
 * Ends a resource when this process exits: by `process.exit`, an uncaught error, or an empty event loop. Signals are not
 * handled: a SIGINT listener would change what Ctrl+C does, and two libraries with listeners would each mistake the other's for
 * the program's own. After a signal the state is the same as after `kill -9`: Codex exits because its stdin closes, and the next
 * start sweeps the rest.
 */
export function endAtExit(one: EndsWithProcess): void {
  owned.add(one);
  if (owned.size === 1) process.on("exit", endAll);
}

/** Reverts `endAtExit`. The exit listener is removed with the last resource. */
export function cancelEndAtExit(one: EndsWithProcess): void {
  if (owned.delete(one) && owned.size === 0) process.off("exit", endAll);
}

function endAll(): void {
  for (const one of owned) one.endNow();
}
