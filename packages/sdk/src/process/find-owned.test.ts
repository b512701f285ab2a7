import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Claim, findOwned, collectAncestors } from "./find-owned.ts";
import type { ProcessEntry } from "./process-table.ts";

function entry(pid: number, parent: number, more: Partial<ProcessEntry> = {}): ProcessEntry {
  return { pid, parent, group: pid, session: pid, start: `boot ${pid}`, startOrder: pid, ...more };
}

const claim: Claim = {
  mark: "m",
  leader: { pid: 100, start: "boot 100", startOrder: 100 },
  isPidReserved: false,
};
const marking =
  (...pids: number[]) =>
  (among: readonly ProcessEntry[]) =>
    among.filter(({ pid }) => pids.includes(pid));
const pids = (found: readonly ProcessEntry[]): number[] =>
  found.map(({ pid }) => pid).toSorted((a, b) => a - b);

describe("the processes of an owner", () => {
  const tree = [
    entry(1, 0),
    entry(50, 1),
    entry(100, 50),
    // An MCP server, in its own group and the leader's session, and its child.
    entry(110, 100, { session: 100 }),
    entry(111, 110),
    // A command, in its own session but still a child.
    entry(120, 100),
    // A daemon, identified only by its mark.
    entry(130, 1),
    entry(131, 130),
    // Unrelated processes.
    entry(140, 1),
    entry(141, 50),
  ];

  it("are the leader, its session, marked processes and their descendants", () => {
    expect(pids(findOwned(tree, claim, marking(130)))).toEqual([100, 110, 111, 120, 130, 131]);
  });

  it("exclude a process with the leader's pid and another start time", () => {
    const reused = [
      entry(1, 0),
      entry(100, 1, { start: "boot 999", startOrder: 999 }),
      entry(1000, 100, { session: 100 }),
    ];
    expect(findOwned(reused, { ...claim, isPidReserved: true }, marking())).toEqual([]);
  });

  it("include the session of an exited leader only while its pid can't be reused", () => {
    const left = [entry(1, 0), entry(110, 1, { session: 100 }), entry(120, 1, { group: 100, session: 7 })];
    expect(findOwned(left, claim, marking())).toEqual([]);
    expect(pids(findOwned(left, { ...claim, isPidReserved: true }, marking()))).toEqual([110, 120]);
  });

  it("include that session if a marked process is still in it", () => {
    const left = [entry(1, 0), entry(110, 1, { session: 100 }), entry(111, 1, { session: 100 })];
    expect(pids(findOwned(left, claim, marking(111)))).toEqual([110, 111]);
  });

  it("are never older than the leader", () => {
    const old = [entry(1, 0), entry(30, 1, { session: 100 }), entry(100, 1)];
    expect(pids(findOwned(old, claim, marking(30)))).toEqual([100]);
  });

  it("are the marked processes if the leader is unknown", () => {
    expect(pids(findOwned(tree, { ...claim, leader: undefined }, marking(130)))).toEqual([130, 131]);
  });

  it("are found in tables with cycles, orphans and duplicates", () => {
    const any = fc.record({
      pid: fc.nat(9),
      parent: fc.nat(9),
      group: fc.nat(9),
      session: fc.nat(9),
      startOrder: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(any), fc.array(fc.nat(9)), (rows, marked) => {
        const table = rows.map((row) => ({ ...row, start: String(row.startOrder) }));
        const leader = { pid: 5, start: "0", startOrder: 0 };
        const found = findOwned(table, { mark: "m", leader, isPidReserved: false }, marking(...marked));
        for (const { pid } of found) expect(table.some((row) => row.pid === pid)).toBe(true);
        expect(collectAncestors(table, 3).has(3)).toBe(true);
      }),
    );
  });
});
