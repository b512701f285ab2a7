import { expect } from "vitest";
import type { ConformanceReport } from "../src/conformance/index.ts";

/** Asserts that no check failed and that the provider earned every tier. */
export function expectEveryTier(report: ConformanceReport): void {
  expect(report.checks.filter(({ status }) => status === "failed")).toEqual([]);
  expect(report.tiers.map(({ tier, status }) => `${tier} ${status}`)).toEqual([
    "event-contract earned",
    "injection earned",
    "resume earned",
    "adaptation-receipt earned",
  ]);
}
