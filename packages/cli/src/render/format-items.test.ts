import type { v2 } from "codexkit";
import { describe, expect, test } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { formatChanges } from "./format-diff.ts";
import { formatCommand, formatOtherItem, formatOutput, formatPlan } from "./format-items.ts";

test("a command is shown without the shell around it, unless the program may be another one", () => {
  const style = createStyle(false);
  const shown = (command: string): string | undefined => {
    const item = { command, aggregatedOutput: null, status: "completed", exitCode: 0, durationMs: 1 };
    return formatCommand(item as Parameters<typeof formatCommand>[0], style)[0];
  };
  expect(shown("/bin/bash -lc 'npm test'")).toBe("$ npm test");
  expect(shown("/tmp/x/bash -lc 'npm test'")).toBe("$ /tmp/x/bash -lc 'npm test'");
});

test("the last lines of output are kept, and the others counted", () => {
  expect(formatOutput("1\n2\n3\n4\n5\n6\n7\n", 5)).toEqual(["… 2 more lines", "3", "4", "5", "6", "7"]);
  expect(formatOutput("1\n2\n", 5)).toEqual(["1", "2"]);
  expect(formatOutput(" \n\n", 5)).toEqual([]);
});

test("a line that is too long is cut", () => {
  expect(formatOutput("x".repeat(3_000), 5)).toEqual([`${"x".repeat(2_000)}…`]);
});

test("many spaces before the end take no longer than other text", () => {
  expect(formatOutput(`a\n${" ".repeat(1_000_000)}x`, 1)[0]).toBe("… 1 more lines");
});

test("a plan is a checklist", () => {
  const plan = [
    { step: "a\u001b[31m", status: "completed" },
    { step: "b\nc", status: "pending" },
  ] as const;
  expect(formatPlan(plan, "Because", createStyle(false))).toEqual(["Plan: Because", "  ✓ a", "  ○ b c"]);
});

describe("hidden characters are visible", () => {
  const style = createStyle(false);
  const HIDDEN = "evil #\r\u202e\u001b[2Kharmless";
  const VISIBLE = String.raw`evil #\x0d\u202e\x1b[2Kharmless`;

  test("in a command", () => {
    const item = { command: HIDDEN, aggregatedOutput: null, status: "completed", exitCode: 0, durationMs: 1 };
    expect(formatCommand(item as Parameters<typeof formatCommand>[0], style)[0]).toBe(`$ ${VISIBLE}`);
  });

  test("in the name of a tool, and a path", () => {
    const tool = { type: "mcpToolCall", server: HIDDEN, tool: HIDDEN, error: null, status: "completed" };
    const image = { type: "imageView", path: HIDDEN };
    expect(formatOtherItem(tool as v2.ThreadItem, style)).toBe(`• ${VISIBLE}.${VISIBLE} completed`);
    expect(formatOtherItem(image as v2.ThreadItem, style)).toBe(`• looked at ${VISIBLE}`);
  });

  test("in a change of a file", () => {
    const change = { path: HIDDEN, kind: { type: "add" as const }, diff: `${HIDDEN}\n` };
    expect(formatChanges([change], style, { cwd: "/x" })).toEqual([`± ${VISIBLE} added`, `  +${VISIBLE}`]);
  });
});
