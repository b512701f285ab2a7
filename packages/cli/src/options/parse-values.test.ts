import { describe, expect, test } from "vitest";
import {
  parseDuration,
  parseLifetime,
  parseLinkLifetime,
  parseNodeUrlOption,
  parseTokenCount,
} from "./parse-values.ts";

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

describe("the lifetime of a token", () => {
  test("may exceed the longest timer", () => {
    expect(parseLifetime("30d")).toBe(30 * 86_400_000);
    expect(parseLifetime("365d")).toBe(365 * 86_400_000);
    expect(() => parseLifetime("40000d")).toThrow(
      "Expected a duration such as 12h, 7d or 90d, at most 3650d.",
    );
  });

  test("of a link is at most an hour", () => {
    expect(parseLinkLifetime("1h")).toBe(3_600_000);
    expect(() => parseLinkLifetime("2h")).toThrow("Expected a duration such as 90s or 10m, at most 1h.");
  });
});

describe("the URL of a node", () => {
  test("has a scheme and a host", () => {
    expect(parseNodeUrlOption("http://10.0.0.7:4100")).toBe("http://10.0.0.7:4100");
    for (const text of ["foo", "10.0.0.7:4100", "ftp://host", "http://user:pw@host", "http://host/path"]) {
      expect(() => parseNodeUrlOption(text)).toThrow("Expected an http or https URL");
    }
  });
});
