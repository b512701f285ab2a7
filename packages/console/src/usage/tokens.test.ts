import { expect, test } from "vitest";
import { parseTokens } from "./tokens.ts";

test.each([
  ["200k", 200_000],
  ["1.5M", 1_500_000],
  ["80,000", 80_000],
  ["12", 12],
  ["0", undefined],
  ["-5", undefined],
  ["many", undefined],
  ["", undefined],
])("reads %j as a number of tokens", (text, count) => {
  expect(parseTokens(text)).toBe(count);
});
