import { describe, expect, test } from "vitest";
import { usesDefaultLaunch } from "./early-codex.ts";

describe("codex is launched before the command line is parsed", () => {
  test.for([
    ["a prompt", ["fix", "it"]],
    ["options of the output", ["--json", "--no-color", "-o", "last.txt", "fix it"]],
    ["a model", ["--model=gpt-5.5", "-e", "low", "fix it"]],
    ["a thread", ["--resume", "--fork", "fix it"]],
  ] as const)("for %s", ([, args]) => {
    expect(usesDefaultLaunch(args)).toBe(true);
  });

  test.for([
    ["no prompt", []],
    ["a prompt on stdin", ["-"]],
    ["help", ["--help", "run"]],
    ["another folder", ["-C", "folder", "fix it"]],
    ["the demo", ["fix it", "--demo"]],
    ["a daemon", ["--daemon=http://127.0.0.1:1", "fix it"]],
    ["a policy, which may be invalid", ["--allow", "npm test", "fix it"]],
    ["an unknown option", ["--jsonl", "fix it"]],
  ] as const)("but not for %s", ([, args]) => {
    expect(usesDefaultLaunch(args)).toBe(false);
  });
});
