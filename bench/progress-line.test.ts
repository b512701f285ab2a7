import { expect, it } from "vitest";

import { ProgressLine } from "./progress-line.ts";

function follow(isTTY: boolean, columns: number): string {
  let written = "";
  const stream = { isTTY, columns, write: (text: string) => (written += text) !== "" };
  const line = new ProgressLine(stream);
  for (const round of [0, 1])
    line.update({ bench: "rpc", row: "notifications", round, rounds: 9, contestant: "ours" });
  line.clear();
  return written;
}

it("overwrites one line on a terminal and clears it", () => {
  const lines = follow(true, 80).split("\r\u001B[K");
  expect(lines).toEqual([
    "",
    "rpc · notifications · warm-up · ours",
    "rpc · notifications · round 1/9 · ours",
    "",
  ]);
});

it("never wraps on a narrow terminal", () => {
  for (const line of follow(true, 10).split("\r\u001B[K")) expect(line.length).toBeLessThan(10);
});

it("writes one line per row without a terminal", () => {
  expect(follow(false, 0)).toBe("rpc · notifications · 9 rounds\n");
});
