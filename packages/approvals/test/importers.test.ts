import { describe, expect, it } from "vitest";
import { definePolicy } from "../src/policy/define-policy.ts";
import { evaluatePolicy } from "../src/policy/evaluate-policy.ts";
import type { Policy } from "../src/policy/policy.ts";
import { importClaudeSettings } from "../src/importers/import-claude-settings.ts";
import { importCodexRules } from "../src/importers/import-codex-rules.ts";

const decide = (policy: Policy, command: string): string =>
  evaluatePolicy(policy, { kind: "command", command, cwd: "/srv/app" }).decision;

describe("rules of Codex", () => {
  // The forms that `codex execpolicy check` of 0.166 accepts.
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
prefix_rule(pattern=["a*"])
`;
  const others = `
names = ["x"]
[prefix_rule(pattern=[x]) for x in names]
def helper():
    prefix_rule(pattern=["y"])
`;

  it("become rules of a policy", () => {
    const { policy, untranslated } = importCodexRules(text);
    expect(policy).toEqual({
      additionalAllow: [
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
      'prefix_rule(pattern=["a*"])',
    ]);
    const combined = definePolicy({ workspace: "/srv/app", ...policy });
    expect(decide(combined, "frob push now")).toBe("allow");
    expect(decide(combined, "rm x")).toBe("deny");
    expect(decide(combined, "git push")).toBe("ask");
  });

  it("allow nothing in a file with statements that are not parsed", () => {
    const { policy, untranslated } = importCodexRules(text + others);
    expect(policy).toMatchObject({
      additionalAllow: [],
      network: { allow: [], deny: ["evil.example:8080"] },
    });
    expect([policy.deny?.length, policy.ask?.length]).toEqual([1, 1]);
    expect(untranslated.map(({ source }) => source.split("\n")[0]).slice(3)).toEqual([
      'names = ["x"]',
      "[prefix_rule(pattern=[x]) for x in names]",
      "def helper():",
      "allow: frob {push,pull} …",
      "allow: ls …",
      "allow: example.com:443",
    ]);
  });

  const rule = 'prefix_rule(pattern=["rm"], decision="allow")';
  it.each([
    `"""\n${rule}\n"""`,
    `x = '''\n${rule}\n'''`,
    `x = """\n${rule}\n"""`,
    `False and \\\n${rule}`,
    `def prefix_rule(**k):\n    pass\n${rule}`,
    'prefix_rule(pattern=["r\\u006d"], decision="allow")',
    'prefix_rule(pattern=["r\\x6d"], decision="allow")',
    'prefix_rule(pattern=["r\\155"], decision="allow")',
    'prefix_rule(pattern=["""rm"""], decision="allow")',
    'prefix_rule(pattern=["ls"], pattern=["rm"], decision="allow")',
  ])("allow nothing that Codex would not: %j", (file) => {
    const { policy, untranslated } = importCodexRules(file);
    expect(policy.additionalAllow).toEqual([]);
    expect(untranslated.length).toBeGreaterThan(0);
  });

  it.each([
    'prefix_rule(pattern=["g\\u0069t"], decision="forbidden")',
    'prefix_rule(pattern=["git\\x20push"], decision="forbidden")',
    'prefix_rule(pattern=["g\\151t"], decision="forbidden")',
    'prefix_rule(pattern=WORDS, decision="forbidden")',
    'prefix_rule(pattern=[], decision="forbidden")',
    'network_rule(host="a b", protocol="http", decision="deny")',
    String.raw`prefix_rule(pattern=["git"], decision="forb\x69dden")`,
    String.raw`prefix_rule(pattern=["git"], decision="forb\u0069dden")`,
    'prefix_rule(pattern=["git"], decision="forb" "idden")',
    'prefix_rule(pattern=["git"], decision="forb" + "idden")',
    'prefix_rule(["git"], DECISION)',
  ])("are rejected if a denial would be lost: %j", (file) => {
    expect(() => importCodexRules(file)).toThrow("A rule that may deny something can't be translated");
  });

  it("deny a host at every port, and a star more widely than Codex", () => {
    const { policy } = importCodexRules(
      'network_rule(host="evil.example", protocol="http", decision="deny")\nprefix_rule(pattern=["frob", "a*"], decision="forbidden")',
    );
    const combined = definePolicy({ workspace: "/srv/app", preset: "danger-full-access", ...policy });
    expect(decide(combined, "curl http://evil.example:8080/")).toBe("deny");
    expect(decide(combined, "frob 'a*'")).toBe("deny");
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
    expect(policy.additionalAllow).toEqual([
      { kind: "prefix", argv: ["frob", "run"] },
      { kind: "prefix", argv: ["frob", "test"] },
      { kind: "exact", argv: ["frob", "status"] },
      { kind: "regex", pattern: "^frob .* main$" },
      { kind: "mcp", server: "files", tool: "read" },
      { kind: "path", glob: "docs/**", access: "write" },
    ]);
    expect(policy.deny).toEqual([
      { kind: "path", glob: ".env", access: "read" },
      { kind: "path", glob: ".env/**", access: "read" },
      { kind: "path", glob: "/home/me/.ssh/**", access: "read" },
      { kind: "path", glob: "/etc/secret", access: "read" },
      { kind: "path", glob: "/etc/secret/**", access: "read" },
      { kind: "path", glob: "**/*.pem", access: "read" },
      { kind: "path", glob: "**/*.pem/**", access: "read" },
      { kind: "prefix", argv: ["rm"] },
    ]);
    expect(untranslated.map(({ source }) => source)).toEqual([
      "allow: WebFetch(domain:example.com)",
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

  it.each(["Edit", "Edit(*)", "Edit(**)", "Edit(*.md)", "Edit(**/*.md)"])(
    "%s stays inside the project",
    (entry) => {
      const { policy } = importClaudeSettings({ permissions: { allow: [entry] } });
      const combined = definePolicy({ workspace: "/srv/app", preset: "read-only", ...policy });
      expect(decide(combined, "touch src/a.md")).toBe("allow");
      expect(decide(combined, "touch /opt/a.md")).not.toBe("allow");
    },
  );

  it.each([
    ["Read(secrets/)", "cat secrets/a"],
    ["Read(secrets)", "cat src/secrets/a"],
    ["Read(a[bc])", "cat ab"],
    [String.raw`Read(a\*)`, "cat 'a*'"],
    ["Read(x{b,c})", "cat 'x{b,c}'"],
    ["Bash(python3 *)", "python3 x.py"],
    ["WebFetch(domain:example.com)", "curl https://example.com:8443/"],
  ])("deny by %s: %s", (entry, command) => {
    const { policy } = importClaudeSettings({ permissions: { deny: [entry] } });
    expect(decide(definePolicy({ workspace: "/srv/app", ...policy }), command)).toBe("deny");
  });

  it.each(["WebFetch(domain:example.com)", "Bash()", "Bash(FOO=1 npm test)", "Edit(a[bc])"])(
    "report a permission that means something else: %s",
    (entry) => {
      const { policy, untranslated } = importClaudeSettings({ permissions: { allow: [entry] } });
      expect(policy.additionalAllow).toEqual([]);
      expect(untranslated).toHaveLength(1);
    },
  );

  it("are required", () => {
    expect(() => importClaudeSettings({ permissions: { allow: "x" } })).toThrow("Claude Code settings");
  });
});
