import { describe, expect, it } from "vitest";
import { PolicyError } from "../errors.ts";
import { definePolicy, parsePolicy, parseRule } from "./define-policy.ts";
import type { PolicyInput } from "./policy.ts";

function codeOf(make: () => unknown): string | undefined {
  try {
    make();
  } catch (error) {
    return error instanceof PolicyError ? error.code : String(error);
  }
  return undefined;
}

describe("a policy", () => {
  it("rejects unknown fields", () => {
    const input = { presets: "developer" } as PolicyInput;
    expect(codeOf(() => definePolicy(input))).toBe("invalid_policy");
    const rule = { deny: [{ kind: "prefix", argv: ["x"], reason: "y" }] } as unknown as PolicyInput;
    expect(codeOf(() => definePolicy(rule))).toBe("invalid_policy");
  });

  it.each([
    "",
    "*",
    "* push",
    "Bash(npm run *)",
    "git push:*",
    "ls **",
    "echo 'a b'",
    "ls; rm",
    "a | b",
    "$x",
  ])("rejects the string rule %j", (rule) => {
    expect(codeOf(() => definePolicy({ deny: [rule] }))).toBe("invalid_rule");
  });

  it("accepts wildcards inside the arguments of a string rule", () => {
    expect(definePolicy({ additionalAllow: ["npm run test-*", "git * main"] }).additionalAllow).toEqual([
      { kind: "prefix", argv: ["npm", "run", "test-*"] },
      { kind: "prefix", argv: ["git", "*", "main"] },
    ]);
  });

  it("checks the examples of its rules", () => {
    const argv = ["git", "push"];
    expect(
      definePolicy({ deny: [{ kind: "prefix", argv, match: ["git -C . push"], notMatch: ["git pull"] }] }),
    ).toBeDefined();
    expect(codeOf(() => definePolicy({ deny: [{ kind: "prefix", argv, match: ["git pull"] }] }))).toBe(
      "invalid_rule",
    );
    expect(
      codeOf(() => definePolicy({ additionalAllow: [{ kind: "prefix", argv, notMatch: ["git push x"] }] })),
    ).toBe("invalid_rule");
    expect(codeOf(() => definePolicy({ deny: [{ kind: "host", host: "*.a.com", match: ["a.com"] }] }))).toBe(
      "invalid_rule",
    );
    expect(
      definePolicy({
        deny: [{ kind: "path", glob: "**/.env", match: ["x/.env"], notMatch: ["x/env"] }],
        workspace: "/w",
      }),
    ).toBeDefined();
    expect(
      codeOf(() => definePolicy({ deny: [{ kind: "mcp", server: "a", tool: "b", match: ["a/c"] }] })),
    ).toBe("invalid_rule");
  });

  it("is parsed from JSON, whether it is the input or the result of definePolicy", () => {
    const input: PolicyInput = {
      preset: "workspace-write",
      workspace: "/srv/app",
      deny: ["npm publish"],
      ask: [{ kind: "prefix", argv: ["git", ["push", "fetch"]], justification: "why" }],
      network: { allow: ["a.com"] },
      effects: { install: "deny" },
    };
    const policy = definePolicy(input);
    expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual(policy);
    expect(parsePolicy(JSON.parse(JSON.stringify(input)))).toEqual(policy);
    expect(codeOf(() => parsePolicy({ ...policy, extra: 1 }))).toBe("invalid_policy");
    expect(codeOf(() => parsePolicy({ version: 2 }))).toBe("invalid_policy");
    expect(codeOf(() => parseRule({ kind: "prefix" }))).toBe("invalid_rule");
    expect(parseRule({ kind: "host", host: "a" })).toEqual({ kind: "host", host: "a" });
  });

  it("accepts only regular expressions that run in linear time", () => {
    expect(codeOf(() => definePolicy({ deny: [{ kind: "regex", pattern: "(?=x)" }] }))).toBe("invalid_regex");
  });
});
