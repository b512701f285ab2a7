import { expect, it } from "vitest";
import { timerDelay } from "./timer-delay.ts";

it("keeps a delay that a timer supports, and caps one that would fire immediately", () => {
  expect(timerDelay(0)).toBe(0);
  expect(timerDelay(120_000)).toBe(120_000);
  expect(timerDelay(2 ** 31)).toBe(2_147_483_647);
  expect(timerDelay(Infinity)).toBe(2_147_483_647);
});
