import type { ProcessEntry } from "./process-table.ts";

/** What makes a process one of an owner's. */
export interface Claim {
  /** The random id in the environment. */
  readonly mark: string;
  /** The process that was spawned: leader of a group and a session of its own. */
  readonly leader: ProcessIdentity | undefined;
  /**
   * True when the leader's number can't have been given to anyone else yet. Then its session is still the owner's
   * though the leader is gone; otherwise only a mark proves it.
   */
  readonly numberIsOurs: boolean;
}

export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
  readonly startOrder: number;
}

/**
 * The processes of a claim: the leader, its group and session, those with the mark, and whatever came out of these.
 *
 * Codex gives each command a session and each MCP server a group of its own. Commands have the mark; MCP servers get an
 * environment without it but stay in Codex's session. So neither sign is enough alone.
 */
export function findOwned(
  table: readonly ProcessEntry[],
  claim: Claim,
  marked: (among: readonly ProcessEntry[]) => readonly ProcessEntry[],
): ProcessEntry[] {
  const { leader, numberIsOurs } = claim;
  // Nothing of a tree is older than its root, so the environments of most processes need not be read.
  const candidates = table.filter(
    ({ startOrder }) => leader === undefined || startOrder >= leader.startOrder,
  );
  const owned = new Map(marked(candidates).map((entry) => [entry.pid, entry]));

  if (leader !== undefined) {
    const sameNumber = candidates.find(({ pid }) => pid === leader.pid);
    const gone = sameNumber === undefined;
    const sessionIsOurs = gone
      ? // The system gives a number to nobody while a session of that number has members.
        numberIsOurs || [...owned.values()].some((entry) => belongsTo(entry, leader.pid))
      : sameNumber.start === leader.start;
    if (sessionIsOurs) {
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

/** A process and those above it: never to be ended by a sweep that runs inside it. */
export function withAncestors(table: readonly ProcessEntry[], pid: number): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const line = new Set<number>();
  for (let next: number | undefined = pid; next !== undefined && !line.has(next); next = parents.get(next))
    line.add(next);
  return line;
}
