import { type Claim, findOwned, collectAncestors } from "./find-owned.ts";
import { type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";

/** A process can fork while it is being killed. Each round finds what the previous one missed. */
const MAX_ROUNDS = 20;

/** Lists the running processes of a claim, without this process and its ancestors. */
export function listOwned(
  claim: Claim,
  system: ProcessTable = processTable(),
  table: readonly ProcessEntry[] = listCandidates(claim, system),
): ProcessEntry[] {
  const excluded = collectAncestors(table, process.pid);
  return findOwned(table, claim, (among) => system.marked(claim.mark, among)).filter(
    ({ pid }) => pid > 1 && !excluded.has(pid),
  );
}

/** No descendant is older than the leader. Reading every process of a machine would take longer than codex's exit. */
function listCandidates({ leader, forks }: Claim, system: ProcessTable): ProcessEntry[] {
  return leader === undefined || forks === undefined ? system.all() : system.since(leader.pid, forks);
}

/** Sends SIGKILL to all processes of a claim, synchronously, so that it works in an exit handler. Returns the pids. */
export function killOwned(claim: Claim): number[] {
  const killed = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const more = listOwned(claim).filter(({ pid }) => !killed.has(pid));
    if (more.length === 0) break;
    for (const { pid } of more) {
      killed.add(pid);
      sendSignal(pid, "SIGKILL");
    }
  }
  return [...killed];
}

/** Sends a signal. A failure is ignored, because the process may have just exited. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited, or it is a set-uid program.
  }
}
