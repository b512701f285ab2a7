import { type Claim, findOwned, withAncestors } from "./find-owned.ts";
import { type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";

/** A process may fork while it is being ended; each round finds what the last one missed. */
const MAX_ROUNDS = 20;

/** Who of a claim runs now; this process and those above it are left out. */
export function ownedNow(
  claim: Claim,
  system: ProcessTable = processTable(),
  table: readonly ProcessEntry[] = system.all(),
): ProcessEntry[] {
  const ourselves = withAncestors(table, process.pid);
  return findOwned(table, claim, (among) => system.marked(claim.mark, among)).filter(
    ({ pid }) => pid > 1 && !ourselves.has(pid),
  );
}

/** Sends SIGKILL to all of a claim, at once and without waiting, also from an exit handler. Returns the pids. */
export function killOwned(claim: Claim): number[] {
  const killed = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const more = ownedNow(claim).filter(({ pid }) => !killed.has(pid));
    if (more.length === 0) break;
    for (const { pid } of more) {
      killed.add(pid);
      signal(pid, "SIGKILL");
    }
  }
  return [...killed];
}

/** Sends a signal; one that can't arrive is no error: the process may just be gone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone, or (a set-uid program) not ours to end.
  }
}
