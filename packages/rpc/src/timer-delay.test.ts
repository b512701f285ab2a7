import { expect, it } from "vitest";
import { timerDelay } from "./timer-delay.ts";

it("keeps a delay that a timer can hold, and cuts one that would fire at once", () => {
  expect(timerDelay(0)).toBe(0);
  expect(timerDelay(120_000)).toBe(120_000);
  expect(timerDelay(2 ** 31)).toBe(2_147_483_647);
  expect(timerDelay(Infinity)).toBe(2_147_483_647);
});
