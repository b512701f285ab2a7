import { expect, test } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { formatOutput, formatPlan, unwrapCommand } from "./format-items.ts";

test.each([
  ["/bin/bash -lc 'npm test'", "npm test"],
  ["bash -c ls", "ls"],
  [String.raw`/usr/bin/zsh -lc "echo 'a' \"b\" \$HOME"`, String.raw`echo 'a' "b" $HOME`],
  [String.raw`bash -lc 'it'\''s'`, "it's"],
  ["bash -lc 'a' 'b'", "bash -lc 'a' 'b'"],
  ["bash -lc ls; rm x", "bash -lc ls; rm x"],
  ['bash -lc "$HOME"', 'bash -lc "$HOME"'],
  ["git status", "git status"],
])("%s is shown as %s", (command, shown) => {
  expect(unwrapCommand(command)).toBe(shown);
});

test("the last lines of output are kept, and the others counted", () => {
  expect(formatOutput("1\n2\n3\n4\n5\n6\n7\n")).toEqual(["… 2 more lines", "3", "4", "5", "6", "7"]);
  expect(formatOutput("1\n2\n")).toEqual(["1", "2"]);
  expect(formatOutput(" \n\n")).toEqual([]);
});

test("a plan is a checklist", () => {
  const plan = [
    { step: "a\u001b[31m", status: "completed" },
    { step: "b\nc", status: "pending" },
  ] as const;
  expect(formatPlan(plan, "Because", createStyle(false))).toEqual(["Plan: Because", "  ✓ a", "  ○ b c"]);
});
