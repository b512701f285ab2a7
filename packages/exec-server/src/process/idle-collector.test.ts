import { expect, test } from "vitest";
import { IdleCollector } from "./idle-collector.ts";

/** Feeds a load per second; returns the seconds at which garbage was collected. */
function collectionsOf(loads: readonly number[]): number[] {
  const collected: number[] = [];
  let second = 0;
  using collector = new IdleCollector({ collect: () => collected.push(second), retentionMs: 5_000 });
  for (const load of loads) {
    second += 1;
    collector.observe(load, second * 1_000);
  }
  return collected;
}

test("collects when work has ended and when its retention is over", () => {
  expect(collectionsOf([0, 0.9, 0.9, 0, 0, 0, 0, 0, 0, 0, 0])).toEqual([4, 8]);
});

test("never collects during work, and starts again after more of it", () => {
  expect(collectionsOf([0.9, 0.9, 0.9])).toEqual([]);
  expect(collectionsOf([0.9, 0, 0.9, 0, 0, 0, 0, 0, 0])).toEqual([2, 4, 8]);
});

test("an idle server collects nothing", () => {
  expect(collectionsOf([0, 0.01, 0, 0.04, 0])).toEqual([]);
});
