import { expect, it } from "vitest";
import { rateLimits, rateLimitWindow } from "../../test/rate-limits.ts";
import { fromRateLimitsResponse, mergeRateLimits } from "./rate-limits.ts";

const read = fromRateLimitsResponse({
  ordinaryUsageAllowed: true,
  rateLimits: rateLimits({
    limitId: "codex",
    planType: "plus",
    primary: rateLimitWindow(10),
    secondary: rateLimitWindow(20),
  }),
  rateLimitsByLimitId: { other: rateLimits({ limitId: "other", primary: rateLimitWindow(1) }) },
  rateLimitResetCredits: null,
  accountId: null,
  rateLimitUpsell: null,
});

it("keeps values that an update omits", () => {
  const merged = mergeRateLimits(read, rateLimits({ limitId: "codex", primary: rateLimitWindow(15) }));
  expect(merged.main).toMatchObject({
    planType: "plus",
    primary: rateLimitWindow(15),
    secondary: rateLimitWindow(20),
  });
  expect(merged.byLimitId["codex"]).toEqual(merged.main);
  expect(merged.byLimitId["other"]).toEqual(read.byLimitId["other"]);
});

it("ignores an empty update", () => {
  expect(mergeRateLimits(read, rateLimits())).toEqual(read);
});

it("applies an update without an id to the main quota", () => {
  expect(mergeRateLimits(read, rateLimits({ secondary: rateLimitWindow(99) })).main?.secondary).toEqual(
    rateLimitWindow(99),
  );
});

it("keeps other quotas separate from the main one", () => {
  const merged = mergeRateLimits(read, rateLimits({ limitId: "other", primary: rateLimitWindow(50) }));
  expect(merged.main).toEqual(read.main);
  expect(merged.byLimitId["other"]?.primary).toEqual(rateLimitWindow(50));
});

it("starts with the first update if nothing is known", () => {
  const update = rateLimits({ limitId: "codex", primary: rateLimitWindow(5) });
  expect(mergeRateLimits({ main: undefined, byLimitId: {} }, update)).toEqual({
    main: update,
    byLimitId: { codex: update },
  });
});
