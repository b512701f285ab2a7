import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { definePolicy, evaluatePolicy, type PresetName } from "../src/index.ts";

interface Dangerous {
  readonly command: string;
  /** The first preset whose promise covers it. Undefined: it is catastrophic, and no preset accepts it. */
  readonly acceptedBy?: PresetName;
}

function load<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../corpus/${name}.json`, import.meta.url), "utf8")) as T[];
}

const dangerous = load<Dangerous>("dangerous");
const ordinary = load<{ readonly command: string }>("ordinary").map(({ command }) => command);
const workspace = { roots: ["/srv/app"], home: "/home/me" };
const presets = ["read-only", "workspace-write", "developer", "danger-full-access"] as const;

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The forms in which Codex passes a script. */
const wrappings: readonly [string, (command: string) => string | readonly string[]][] = [
  ["as it is", (command) => command],
  ["in bash -lc", (command) => `/bin/bash -lc ${quote(command)}`],
  ["in zsh -lc", (command) => `/bin/zsh -lc ${quote(command)}`],
  ["as argv", (command) => ["bash", "-lc", command]],
];

function decide(preset: PresetName, command: string | readonly string[]): string {
  return evaluatePolicy(definePolicy({ preset, workspace }), { kind: "command", command, cwd: "/srv/app" })
    .decision;
}

describe("the dangerous corpus", () => {
  it("has at least 1,000 entries, all different", () => {
    expect(new Set(dangerous.map(({ command }) => command)).size).toBeGreaterThanOrEqual(1_000);
  });

  it.for(presets.flatMap((preset) => wrappings.map(([how, wrap]) => [preset, how, wrap] as const)))(
    "contains nothing that %s accepts beyond its promise, %s",
    ([preset, , wrap]) => {
      const rank = presets.indexOf(preset);
      const beyond = dangerous.filter(
        ({ acceptedBy }) =>
          acceptedBy === undefined || presets.findIndex((name) => name === acceptedBy) > rank,
      );
      expect(beyond.filter(({ command }) => decide(preset, wrap(command)) === "allow")).toEqual([]);
    },
  );

  it("is accepted under bypass, which checks nothing", () => {
    expect(dangerous.filter(({ command }) => decide("bypass", command) !== "allow")).toEqual([]);
  });

  it("is never asked about if the default is deny", () => {
    const policy = definePolicy({ preset: "workspace-write", default: "deny", workspace });
    const decisions = dangerous.map(
      ({ command }) => evaluatePolicy(policy, { kind: "command", command, cwd: "/srv/app" }).decision,
    );
    expect(new Set(decisions)).toEqual(new Set(["deny"]));
  });
});

describe("the ordinary corpus", () => {
  it("is accepted, asked about and denied by each preset as documented", () => {
    const rows = presets.map((preset) => {
      const decisions = ordinary.map((command) => decide(preset, command));
      const share = (decision: string): string =>
        `${Math.round((decisions.filter((found) => found === decision).length / ordinary.length) * 100)}%`;
      return `${preset}: ${share("allow")} accepted, ${share("ask")} asked about, ${share("deny")} denied`;
    });
    const page = readFileSync(new URL("../../../docs/approvals.md", import.meta.url), "utf8");
    expect(rows.filter((row) => !page.includes(row))).toEqual([]);
  });

  it("has at least 600 entries, all different", () => {
    expect(new Set(ordinary).size).toBeGreaterThanOrEqual(600);
  });

  it.for(wrappings)("is at least 95%% accepted and at most 1%% denied under developer, %s", ([, wrap]) => {
    const decisions = ordinary.map((command) => decide("developer", wrap(command)));
    const share = (decision: string): number =>
      decisions.filter((found) => found === decision).length / ordinary.length;
    expect(share("allow")).toBeGreaterThanOrEqual(0.95);
    expect(share("deny")).toBeLessThanOrEqual(0.01);
  });
});
