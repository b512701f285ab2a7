import { expect, it } from "vitest";
import { isFlagged, segmentRows } from "./segment-rows.ts";

const segment = {
  command: "ls",
  parent: -1,
  decision: "ask",
  reason: "no rule",
  rule: "default/ask",
} as const;

it("indents commands below the one that runs them", () => {
  const rows = segmentRows({
    decision: "ask",
    reason: "",
    rule: "",
    segments: [
      { ...segment, command: "sudo xargs rm" },
      { ...segment, command: "xargs rm", parent: 0 },
      { ...segment, command: "rm", parent: 1 },
      { ...segment, command: "ls", parent: 9 },
    ],
  });
  expect(rows.map(({ command, depth }) => [command, depth])).toEqual([
    ["sudo xargs rm", 0],
    ["xargs rm", 1],
    ["rm", 2],
    ["ls", 0],
  ]);
});

it("flags a request of which the policy denies a part", () => {
  const verdict = { decision: "ask", reason: "", rule: "", segments: [segment] } as const;
  expect(isFlagged(null)).toBe(false);
  expect(isFlagged({ ...verdict, segments: [segment] })).toBe(false);
  expect(isFlagged({ ...verdict, segments: [segment, { ...segment, decision: "deny" }] })).toBe(true);
});
