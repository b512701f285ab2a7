import type { ProcessEntry } from "./process-table.ts";

/** Identifies the processes of one owner. */
export interface Claim {
  /** The random id in the processes' environment. */
  readonly mark: string;
  /** The spawned process, which leads its own process group and session. */
  readonly leader: ProcessIdentity | undefined;
  /**
   * Whether the leader's pid can't have been reused yet. If so, its session still belongs to the owner after the leader has
   * exited; otherwise only a mark proves that it does.
   */
  readonly isPidReserved: boolean;
  /** Number of processes that the system had created before the leader, if known. Makes the search cheaper. */
  readonly forks?: number | undefined;
}

export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
  readonly startOrder: number;
}

/**
 * Finds the processes of a claim: the leader, its group and session, those with the mark, and their descendants.
 *
 * Codex runs each command in its own session and each MCP server in its own group. Commands have the mark; MCP servers have an
 * environment without it but stay in Codex's session. So neither criterion is sufficient alone.
 */
export function findOwned(
  table: readonly ProcessEntry[],
  claim: Claim,
  marked: (among: readonly ProcessEntry[]) => readonly ProcessEntry[],
): ProcessEntry[] {
  const { leader, isPidReserved } = claim;
  // No descendant is older than its root, so the environments of most processes need not be read.
  const candidates = table.filter(
    ({ startOrder }) => leader === undefined || startOrder >= leader.startOrder,
  );
  const owned = new Map(marked(candidates).map((entry) => [entry.pid, entry]));

  if (leader !== undefined) {
    const samePid = candidates.find(({ pid }) => pid === leader.pid);
    const isSessionOwned =
      samePid === undefined
        ? // The system does not reuse a pid while a session with that id has members.
          isPidReserved || [...owned.values()].some((entry) => belongsTo(entry, leader.pid))
        : samePid.start === leader.start;
    if (isSessionOwned) {
      for (const entry of candidates) if (belongsTo(entry, leader.pid)) owned.set(entry.pid, entry);
    }
  }

  for (let before = -1; before < owned.size;) {
    before = owned.size;
    for (const entry of candidates) if (owned.has(entry.parent)) owned.set(entry.pid, entry);
  }
  return [...owned.values()];
}

function belongsTo(entry: ProcessEntry, leader: number): boolean {
  return entry.pid === leader || entry.group === leader || entry.session === leader;
}

/** Returns a process and its ancestors. A sweep must never kill those of its own process. */
export function collectAncestors(table: readonly ProcessEntry[], pid: number): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const ancestors = new Set<number>();
  for (
    let next: number | undefined = pid;
    next !== undefined && !ancestors.has(next);
    next = parents.get(next)
  )
    ancestors.add(next);
  return ancestors;
}
