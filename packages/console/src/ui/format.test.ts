import { expect, it } from "vitest";
import { formatBytes, formatCount, formatDuration } from "./format.ts";

it.each([
  [0, "0 ms"],
  [850.4, "850 ms"],
  [12_000, "12 s"],
  [192_000, "3m 12s"],
  [180_000, "3m"],
  [7_500_000, "2h 5m"],
  [349_200_000, "4d 1h"],
])("formats %d ms as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

it.each([
  [950, "950"],
  [1_000, "1k"],
  [12_400, "12.4k"],
  [999_960, "1M"],
  [3_100_000, "3.1M"],
])("formats the count %d as %s", (count, text) => {
  expect(formatCount(count)).toBe(text);
});

it.each([
  [512, "512 B"],
  [1_536, "1.5 KB"],
  [1_048_576, "1 MB"],
  [12_582_912, "12 MB"],
])("formats %d bytes as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
