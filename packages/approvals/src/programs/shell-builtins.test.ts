import { describe, expect, it } from "vitest";
import { literal } from "./declaration/word.ts";
import { changesShell, readBuiltin } from "./shell-builtins.ts";

const read = (call: string) => readBuiltin(call.split(" ").map(literal), [], "/home/me");

describe("a builtin of the shell", () => {
  it.each([
    ["cd", { kind: "cd", path: { text: "/home/me" } }],
    ["cd src", { kind: "cd", path: { text: "src" } }],
    [". ./env.sh", { kind: "source", path: { text: "./env.sh" } }],
    ["set -euo pipefail", { kind: "none" }],
    ["exit 1", { kind: "none" }],
    ["wait %1", { kind: "none" }],
    ["export A=1 B=", { kind: "export" }],
  ])("is understood in %s", (call, expected) => {
    expect(read(call)).toMatchObject(expected);
  });

  it.each([
    "cd -",
    "cd a b",
    "source env.sh",
    ". ./a b",
    "set -f",
    "set",
    "exit x",
    "break 12",
    "export A",
    "eval ls",
    "trap x EXIT",
  ])("is not understood in %s", (call) => {
    expect(read(call)).toHaveProperty("problem");
  });

  it("is not understood after an assignment", () => {
    const environment = [{ name: "CI", value: literal("1") }];
    expect(readBuiltin([literal("cd"), literal("src")], environment, "/home/me")).toHaveProperty("problem");
  });

  it("is not a program", () => {
    expect(read("ls -la")).toBeUndefined();
    expect([changesShell("eval"), changesShell("ls")]).toEqual([true, false]);
  });
});
