import type { v2 } from "@codexkit/protocol";
import { expect, it } from "vitest";
import { fromRateLimitsResponse, mergeRateLimits } from "./rate-limits.ts";

const nothing: v2.RateLimitSnapshot = {
  limitId: null,
  limitName: null,
  normalModelSlug: null,
  primary: null,
  secondary: null,
  credits: null,
  individualLimit: null,
  spendControlReached: null,
  planType: null,
  rateLimitReachedType: null,
};
const window = (usedPercent: number): v2.RateLimitWindow => ({
  usedPercent,
  windowDurationMins: 300,
  resetsAt: 1,
});
const read = fromRateLimitsResponse({
  ordinaryUsageAllowed: true,
  rateLimits: { ...nothing, limitId: "codex", planType: "plus", primary: window(10), secondary: window(20) },
  rateLimitsByLimitId: { other: { ...nothing, limitId: "other", primary: window(1) } },
  rateLimitResetCredits: null,
  accountId: null,
  rateLimitUpsell: null,
});

it("keeps values that an update omits", () => {
  const merged = mergeRateLimits(read, { ...nothing, limitId: "codex", primary: window(15) });
  expect(merged.main).toMatchObject({ planType: "plus", primary: window(15), secondary: window(20) });
  expect(merged.byLimitId["codex"]).toEqual(merged.main);
  expect(merged.byLimitId["other"]).toEqual(read.byLimitId["other"]);
});

it("ignores an empty update", () => {
  expect(mergeRateLimits(read, nothing)).toEqual(read);
});

it("applies an update without an id to the main quota", () => {
  expect(mergeRateLimits(read, { ...nothing, secondary: window(99) }).main?.secondary).toEqual(window(99));
});

it("keeps other quotas separate from the main one", () => {
  const merged = mergeRateLimits(read, { ...nothing, limitId: "other", primary: window(50) });
  expect(merged.main).toEqual(read.main);
  expect(merged.byLimitId["other"]?.primary).toEqual(window(50));
});

it("starts with the first update if nothing is known", () => {
  const update = { ...nothing, limitId: "codex", primary: window(5) };
  expect(mergeRateLimits({ main: undefined, byLimitId: {} }, update)).toEqual({
    main: update,
    byLimitId: { codex: update },
  });
});
