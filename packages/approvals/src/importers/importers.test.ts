import { describe, expect, it } from "vitest";
import { definePolicy } from "../policy/define-policy.ts";
import { evaluate } from "../policy/evaluate.ts";
import type { Policy } from "../policy/policy.ts";
import { importClaudeSettings } from "./import-claude-settings.ts";
import { importCodexRules } from "./import-codex-rules.ts";

const decide = (policy: Policy, command: string): string =>
  evaluate(policy, { kind: "command", command, cwd: "/srv/app" }).decision;

describe("rules of Codex", () => {
  // The shapes that `codex execpolicy check` of 0.166 accepts.
  const text = `
# comments are skipped
prefix_rule(
    pattern = ["frob", ["push", "pull"]],
    decision = "allow",
    match = [["frob", "push"], "frob pull x"],
    not_match = ["frob"],
)
prefix_rule(pattern=['rm'], decision='forbidden', justification="use trash")
prefix_rule(["git", "push"], "prompt")
prefix_rule(pattern=["ls"])
network_rule(host="example.com", protocol="https", decision="allow")
network_rule(host="evil.example:8080", protocol="http", decision="deny")
network_rule(host="a.example", protocol="socks5_tcp", decision="allow")
host_executable(name="git", paths=["/usr/bin/git"])
names = ["x"]
[prefix_rule(pattern=[x]) for x in names]
def helper():
    prefix_rule(pattern=["y"])
prefix_rule(pattern=["a*"])
`;

  it("become rules of a policy", () => {
    const { policy, untranslated } = importCodexRules(text);
    expect(policy).toEqual({
      alsoAllow: [
        { kind: "prefix", argv: ["frob", ["push", "pull"]] },
        { kind: "prefix", argv: ["ls"] },
      ],
      deny: [{ kind: "prefix", argv: ["rm"], justification: "use trash" }],
      ask: [{ kind: "prefix", argv: ["git", "push"] }],
      network: { allow: ["example.com:443"], deny: ["evil.example:8080"] },
    });
    expect(untranslated.map(({ source }) => source.split("\n")[0])).toEqual([
      'network_rule(host="a.example", protocol="socks5_tcp", decision="allow")',
      'host_executable(name="git", paths=["/usr/bin/git"])',
      'names = ["x"]',
      "[prefix_rule(pattern=[x]) for x in names]",
      "def helper():",
      'prefix_rule(pattern=["a*"])',
    ]);
    const combined = definePolicy({ workspace: "/srv/app", ...policy });
    expect(decide(combined, "frob push now")).toBe("allow");
    expect(decide(combined, "rm x")).toBe("deny");
    expect(decide(combined, "git push")).toBe("ask");
  });
});

describe("permissions of Claude Code", () => {
  it("become rules of a policy", () => {
    const { policy, untranslated } = importClaudeSettings(
      {
        permissions: {
          allow: [
            "Bash(frob run *)",
            "Bash(frob test:*)",
            "Bash(frob status)",
            "Bash(frob * main)",
            "WebFetch(domain:example.com)",
            "mcp__files__read",
            "Edit(/docs/**)",
            "TodoWrite",
          ],
          ask: ["Bash(git push:*)"],
          deny: [
            "Read(./.env)",
            "Read(~/.ssh/**)",
            "Read(//etc/secret)",
            "Read(*.pem)",
            "Bash(rm:*)",
            "Bash(x && y)",
          ],
          defaultMode: "acceptEdits",
        },
        env: {},
      },
      { home: "/home/me" },
    );
    expect(policy.alsoAllow).toEqual([
      { kind: "prefix", argv: ["frob", "run"] },
      { kind: "prefix", argv: ["frob", "test"] },
      { kind: "exact", argv: ["frob", "status"] },
      { kind: "regex", pattern: "^frob .* main$" },
      { kind: "host", host: "example.com" },
      { kind: "mcp", server: "files", tool: "read" },
      { kind: "path", glob: "docs/**", access: "write" },
    ]);
    expect(policy.deny).toEqual([
      { kind: "path", glob: ".env", access: "read" },
      { kind: "path", glob: "/home/me/.ssh/**", access: "read" },
      { kind: "path", glob: "/etc/secret", access: "read" },
      { kind: "path", glob: "**/*.pem", access: "read" },
      { kind: "prefix", argv: ["rm"] },
    ]);
    expect(untranslated.map(({ source }) => source)).toEqual([
      "allow: TodoWrite",
      "deny: Bash(x && y)",
      "permissions.defaultMode",
    ]);
    const combined = definePolicy({ workspace: "/srv/app", ...policy });
    expect(decide(combined, "frob run x")).toBe("allow");
    expect(decide(combined, "cat .env")).toBe("deny");
    expect(decide(combined, "git push")).toBe("ask");
    expect(decide(combined, "frob a main && rm x")).toBe("deny");
  });

  it("are required", () => {
    expect(() => importClaudeSettings({ permissions: { allow: "x" } })).toThrow("Claude Code settings");
  });
});
