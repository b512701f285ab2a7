import { type Claim, findOwned, collectAncestors } from "./find-owned.ts";
import { type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";

/** A process can fork while it is being killed. Each round finds what the previous one missed. */
const MAX_ROUNDS = 20;

/** Lists the running processes of a claim, without this process and its ancestors. */
export function listOwned(
  claim: Claim,
  system: ProcessTable = processTable(),
  {
    table = listCandidates(claim, system),
    onUnreadable,
  }: { readonly table?: readonly ProcessEntry[]; readonly onUnreadable?: () => void } = {},
): ProcessEntry[] {
  const excluded = collectAncestors(table, process.pid);
  return findOwned(table, claim, (among) => system.marked(claim.mark, among, onUnreadable)).filter(
    ({ pid }) => pid > 1 && !excluded.has(pid),
  );
}

/** No descendant is older than the leader. Reading every process of a machine would take longer than codex's exit. */
function listCandidates({ leader, forks }: Claim, system: ProcessTable): ProcessEntry[] {
  return leader === undefined || forks === undefined ? system.all() : system.since(leader.pid, forks);
}

/** Result of a search for processes to kill. */
interface KillReport {
  readonly killed: number;
  /** Whether none can be left: none was found, each process could be read, and none was created meanwhile. */
  readonly isCertain: boolean;
}

/** Sends SIGKILL to all processes of a claim, synchronously, so that it works in an exit handler. */
export function killOwned(claim: Claim, system: ProcessTable = processTable()): KillReport {
  const killed = new Set<number>();
  const forks = system.forks()?.made;
  let isReadable = true;
  const onUnreadable = (): void => void (isReadable = false);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const more = listOwned(claim, system, { onUnreadable }).filter(({ pid }) => !killed.has(pid));
    if (more.length === 0) break;
    for (const { pid } of more) {
      killed.add(pid);
      sendSignal(pid, "SIGKILL");
    }
  }
  const isUndisturbed = forks !== undefined && system.forks()?.made === forks;
  return { killed: killed.size, isCertain: killed.size === 0 && isReadable && isUndisturbed };
}

/** Sends a signal. A failure is ignored, because the process may have just exited. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited, or it is a set-uid program.
  }
}
