import { describe, expect, test } from "vitest";
import { parseDuration, parseTokenCount } from "./parse-values.ts";

describe("a number of tokens", () => {
  test.each([
    ["200k", 200_000],
    ["1.5M", 1_500_000],
    ["50000", 50_000],
    ["2g", 2e9],
  ])("%s is %d", (text, count) => {
    expect(parseTokenCount(text)).toBe(count);
  });

  test.each(["", "k", "0", "-5", "200 k", "1e3", "0.0001k", "lots", "9".repeat(30)])(
    "%j is refused",
    (text) => {
      expect(() => parseTokenCount(text)).toThrow("Expected a number of tokens such as 200k");
    },
  );
});

describe("a duration", () => {
  test.each([
    ["90s", 90_000],
    ["10m", 600_000],
    ["1h30m", 5_400_000],
    ["0.5s", 500],
  ])("%s is %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(["", "10", "m", "10 m", "0s", "-1m", "30d", "1h 30m", "10mx"])("%j is refused", (text) => {
    expect(() => parseDuration(text)).toThrow("Expected a duration such as 90s");
  });
});
