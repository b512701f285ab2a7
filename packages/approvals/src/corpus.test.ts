import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { definePolicy, evaluate, type PresetName } from "./index.ts";
import { quote } from "./shell/value.ts";

interface Entry {
  readonly command: string;
  readonly rule: string;
}

function load(name: string): Entry[] {
  return JSON.parse(readFileSync(new URL(`../corpus/${name}.json`, import.meta.url), "utf8")) as Entry[];
}

const dangerous = load("dangerous");
const ordinary = load("ordinary");
const workspace = { roots: ["/srv/app"], home: "/home/me" };
const strict: readonly PresetName[] = ["read-only", "workspace-write", "developer", "danger-full-access"];

/** The shapes in which Codex hands a script over. */
const wrappings: readonly [string, (command: string) => string | readonly string[]][] = [
  ["as it is", (command) => command],
  ["in bash -lc", (command) => `/bin/bash -lc ${quote(command)}`],
  ["in zsh -lc", (command) => `/bin/zsh -lc ${quote(command)}`],
  ["as argv", (command) => ["bash", "-lc", command]],
];

describe("the dangerous corpus", () => {
  it("has at least 300 entries, all different", () => {
    expect(new Set(dangerous.map(({ command }) => command)).size).toBeGreaterThanOrEqual(300);
  });

  it.for(strict.flatMap((preset) => wrappings.map(([how, wrap]) => [preset, how, wrap] as const)))(
    "accepts nothing under %s, %s",
    ([preset, , wrap]) => {
      const policy = definePolicy({ preset, workspace });
      const accepted = dangerous.filter(
        ({ command }) =>
          evaluate(policy, { kind: "command", command: wrap(command), cwd: "/srv/app" }).decision === "allow",
      );
      expect(accepted).toEqual([]);
    },
  );

  it("is refused by the rule that each entry names", () => {
    const policy = definePolicy({ preset: "danger-full-access", workspace });
    for (const { command, rule } of dangerous) {
      const found = evaluate(policy, { kind: "command", command, cwd: "/srv/app" });
      expect({ command, rule: found.rule }).toEqual({ command, rule });
    }
  });

  it("is accepted under bypass, which checks nothing", () => {
    const policy = definePolicy({ preset: "bypass", workspace });
    for (const { command } of dangerous) {
      expect(evaluate(policy, { kind: "command", command, cwd: "/srv/app" }).decision).toBe("allow");
    }
  });

  it("is never asked about where the default is deny", () => {
    const policy = definePolicy({ preset: "developer", default: "deny", workspace });
    for (const { command } of dangerous) {
      expect(evaluate(policy, { kind: "command", command, cwd: "/srv/app" }).decision).toBe("deny");
    }
  });
});

describe("the ordinary corpus", () => {
  it("has at least 300 entries, all different", () => {
    expect(new Set(ordinary.map(({ command }) => command)).size).toBeGreaterThanOrEqual(300);
  });

  it.for(wrappings)("is accepted under developer but for 2%%, %s", ([, wrap]) => {
    const policy = definePolicy({ preset: "developer", workspace });
    const stopped = ordinary.filter(
      ({ command }) =>
        evaluate(policy, { kind: "command", command: wrap(command), cwd: "/srv/app" }).decision !== "allow",
    );
    expect(stopped.length / ordinary.length).toBeLessThanOrEqual(0.02);
  });

  it("is judged by the rule that each entry names", () => {
    const policy = definePolicy({ preset: "developer", workspace });
    for (const { command, rule } of ordinary) {
      const found = evaluate(policy, { kind: "command", command, cwd: "/srv/app" });
      expect({ command, rule: found.rule }).toEqual({ command, rule });
    }
  });

  it("changes nothing under read-only", () => {
    const policy = definePolicy({ preset: "read-only", workspace });
    const changing = ordinary.filter(({ rule }) => rule !== "preset/developer/read");
    for (const { command } of changing) {
      const { decision } = evaluate(policy, { kind: "command", command, cwd: "/srv/app" });
      expect({ command, decision }).toEqual({ command, decision: "deny" });
    }
  });
});
