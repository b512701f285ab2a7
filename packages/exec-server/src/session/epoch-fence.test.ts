import fc from "fast-check";
import { expect, test } from "vitest";
import { EpochFence } from "./epoch-fence.ts";

const claim = (epoch: number, subject = "s") => ({ subject, epoch });

test("a higher epoch cuts off lower ones, and they are refused until the end", () => {
  const fence = new EpochFence(10);
  const cut: string[] = [];
  const leaves = ["a", "b"].map((name) => fence.admit(claim(1), () => cut.push(name)));
  expect(cut).toEqual([]);
  const leave = fence.admit(claim(2), () => cut.push("c"));
  expect(cut).toEqual(["a", "b"]);
  expect(fence.admit(claim(1), () => {})).toBeUndefined();
  for (const end of [...leaves, leave, leave]) end?.();
  expect(fence.newerEpoch(claim(1))).toBe(2);
  expect(fence.admit(claim(2), () => {})).toBeDefined();
  expect(cut).toEqual(["a", "b"]);
});

test("a connection that is cut off may leave at once", () => {
  const fence = new EpochFence(10);
  const leave = fence.admit(claim(1), () => leave?.());
  fence.admit(claim(2), () => {});
  expect(fence.newerEpoch(claim(1))).toBe(2);
});

test("subjects without a connection are forgotten beyond the limit, those with one never", () => {
  const fence = new EpochFence(2);
  fence.admit(claim(9, "connected"), () => {});
  for (const subject of ["a", "b", "c"]) fence.admit(claim(9, subject), () => {})?.();
  expect(["connected", "a", "b", "c"].map((subject) => fence.newerEpoch(claim(1, subject)))).toEqual([
    9,
    undefined,
    9,
    9,
  ]);
});

test("at any time, all connections of a subject have the highest epoch that was seen", () => {
  const step = fc.record({ epoch: fc.nat(5), subject: fc.constantFrom("a", "b"), leaves: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const fence = new EpochFence(10);
      const connected = new Set<{ epoch: number; subject: string; leave: () => void }>();
      const highest = new Map<string, number>();
      for (const { epoch, subject, leaves } of steps) {
        const entry = { epoch, subject, leave: () => {} };
        const leave = fence.admit({ subject, epoch }, () => {
          connected.delete(entry);
          entry.leave();
        });
        expect(leave === undefined).toBe(epoch < (highest.get(subject) ?? 0));
        if (leave) {
          entry.leave = leave;
          connected.add(entry);
          highest.set(subject, epoch);
        }
        for (const other of connected) expect(other.epoch).toBe(highest.get(other.subject));
        const leaving = [...connected][leaves];
        leaving?.leave();
        if (leaving) connected.delete(leaving);
      }
    }),
  );
});
