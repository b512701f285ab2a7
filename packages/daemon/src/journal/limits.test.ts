import type { StoreKind } from "@codexkit/store";
import { expect, test } from "vitest";
import { CommitPauses } from "./limits.ts";

const limits = { flushMs: 20, maxFlushMs: 200 };

/** The pauses after these commits. */
function pausesAfter(commits: readonly number[], of = limits, kind: StoreKind = "sqlite"): readonly number[] {
  const pauses = new CommitPauses(of, kind);
  return commits.map((commitMs) => pauses.after(commitMs));
}

test("fast commits follow each other every flushMs", () => {
  expect(pausesAfter([1, 5, 1])).toEqual([19, 15, 19]);
});

test("slow commits get a pause of three times their duration, up to maxFlushMs", () => {
  expect(pausesAfter([20, 20, 20])).toEqual([60, 60, 60]);
  expect(pausesAfter([100, 10_000])).toEqual([200, 200]);
  expect(pausesAfter([10_000], { ...limits, maxFlushMs: 0 })).toEqual([0]);
});

test("a slow commit of Postgres gets a pause of its own duration, because the process continues meanwhile", () => {
  expect(pausesAfter([1, 5, 1], limits, "postgres")).toEqual([19, 15, 19]);
  expect(pausesAfter([20, 20, 20], limits, "postgres")).toEqual([20, 20, 20]);
  expect(pausesAfter([10_000], limits, "postgres")).toEqual([200]);
});

test("a single slow commit among fast ones gets no longer pause, and a store that has become slow does", () => {
  expect(pausesAfter([1, 60, 1, 1])).toEqual([19, 3, 19, 19]);
  expect(pausesAfter([1, 60, 60, 60, 60])).toEqual([19, 3, 3, 180, 180]);
});
