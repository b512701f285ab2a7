import { expect, it } from "vitest";
import { describeLease } from "./describe-node.ts";

it.each([
  ["up", 12_400, "renewed, 12 s left"],
  ["up", -300, "being renewed"],
  ["draining", 5_000, "renewed, 5 s left"],
  ["lost", -90_000, "ended 1m 30s ago"],
] as const)("says when the lease of a node that is %s ends (%i ms)", (state, left, text) => {
  expect(describeLease({ state, leaseUntil: 1_000_000 + left }, 1_000_000)).toBe(text);
});
