import { type Claim, findOwned, collectAncestors, type ProcessIdentity } from "./find-owned.ts";
import { type ProcessEntry, type ProcessTable, processTable, type SinceOptions } from "./process-table.ts";

/** A process can fork while it is being killed. Each round finds what the previous one missed. */
const MAX_ROUNDS = 20;

interface SearchOptions {
  readonly table?: readonly ProcessEntry[] | undefined;
  /** Pids that earlier searches proved not to belong to the claim. This search adds to them. */
  readonly unrelated?: Set<number> | undefined;
  /** Called for a process that may belong to the claim but can't be read now. */
  readonly onUnreadable?: ((pid: number) => void) | undefined;
  /** Called for a process that ended before it was read. */
  readonly onGone?: (() => void) | undefined;
}

/** Lists the running processes of a claim, without this process and its ancestors. */
export function listOwned(
  claim: Claim,
  system: ProcessTable = processTable(),
  { unrelated, onUnreadable, onGone, ...given }: SearchOptions = {},
): ProcessEntry[] {
  const table = given.table ?? listCandidates(claim, system, { unrelated, onGone });
  const unreadable = new Set<number>();
  const marked = (among: readonly ProcessEntry[]): readonly ProcessEntry[] =>
    system.marked(claim.mark, among, (pid) => {
      unreadable.add(pid);
      onUnreadable?.(pid);
    });
  const owned = findOwned(table, claim, marked);
  if (unrelated) addUnrelated(unrelated, table, { claim, owned, unreadable });
  const excluded = collectAncestors(table, process.pid);
  return owned.filter(({ pid }) => pid > 1 && !excluded.has(pid));
}

/** No descendant is older than the leader. Reading every process of a machine would take longer than codex's exit. */
function listCandidates(claim: Claim, system: ProcessTable, options: SinceOptions): ProcessEntry[] {
  return isBounded(claim) ? system.since(claim.leader.pid, claim.forks, options) : system.all();
}

/** A claim whose processes are known to be younger than a process. */
type BoundedClaim = Claim & { readonly leader: ProcessIdentity; readonly forks: number };

function isBounded(claim: Claim): claim is BoundedClaim {
  return claim.leader !== undefined && claim.forks !== undefined;
}

/**
 * Adds the pids that don't belong to the claim and never will: a process never gets another creator, nor a mark later. A process
 * whose creator is unknown, because the creator has ended or can't be read yet, is not added.
 */
function addUnrelated(
  unrelated: Set<number>,
  table: readonly ProcessEntry[],
  { claim, owned, unreadable }: Found,
): void {
  const first = claim.leader?.pid ?? 0;
  const ownedPids = new Set(owned.map(({ pid }) => pid));
  // Sorted by pid, so that creators come first.
  for (const { pid, parent } of table) {
    if (ownedPids.has(pid) || unreadable.has(pid)) continue;
    if (parent < first || unrelated.has(parent)) unrelated.add(pid);
  }
}

interface Found {
  readonly claim: Claim;
  readonly owned: readonly ProcessEntry[];
  readonly unreadable: ReadonlySet<number>;
}

/** Result of a search for processes to kill. */
interface KillReport {
  readonly killed: number;
  /**
   * Whether no process can be left: none was found, each process could be read, and meanwhile none was created, or none
   * ended that could have created one.
   */
  readonly isCertain: boolean;
}

/**
 * Sends SIGKILL to all processes of a claim, synchronously, so that it works in an exit handler.
 *
 * @param unrelated See `SearchOptions`.
 */
export function killOwned(
  claim: Claim,
  system: ProcessTable = processTable(),
  unrelated?: Set<number>,
): KillReport {
  const killed = new Set<number>();
  const forks = system.forks()?.made;
  let isReadable = true;
  let isGone = false;
  const options: SearchOptions = {
    unrelated,
    onUnreadable: () => void (isReadable = false),
    onGone: () => void (isGone = true),
  };
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const more = listOwned(claim, system, options).filter(({ pid }) => !killed.has(pid));
    if (more.length === 0) break;
    for (const { pid } of more) {
      killed.add(pid);
      sendSignal(pid, "SIGKILL");
    }
  }
  // A process that was not listed has a creator that was listed, and was read unless it ended in between.
  const isNoneGone = isBounded(claim) && !isGone;
  const isUndisturbed = forks !== undefined && (isNoneGone || system.forks()?.made === forks);
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
