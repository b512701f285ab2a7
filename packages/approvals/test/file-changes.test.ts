import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  definePolicy,
  evaluatePolicy,
  resolvePaths,
  type ApprovalRequest,
  type PathFacts,
  type PolicyInput,
} from "../src/index.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "approvals-")));
afterAll(() => rmSync(base, { recursive: true }));

const settings = (root: string) => ({ roots: [root], temp: [], home: "/home/me" });
const change = (path: string, movePath?: string): ApprovalRequest => ({
  kind: "fileChange",
  cwd: "/w",
  changes: [{ path, kind: "update", movePath }],
});
const judge = (request: ApprovalRequest, input: PolicyInput = {}, facts?: PathFacts) => {
  const { decision, rule } = evaluatePolicy(
    definePolicy({ workspace: settings("/w"), ...input }),
    request,
    facts,
  );
  return `${decision} ${rule}`;
};

describe("a patch", () => {
  it.for([
    ["src/a.ts", "allow preset/developer/write"],
    ["/w/src/a.ts", "allow preset/developer/write"],
    ["src/../a.ts", "allow preset/developer/write"],
    ["../src/other/a.ts", "ask default"],
    ["/w/../../data/a", "ask default"],
    ["/wide/a", "ask default"],
    [".git/config", "deny safety/protected-path"],
    ["src/.GIT/hooks/x", "deny safety/protected-path"],
    [".g\u200cit/config", "deny safety/protected-path"],
    [".git./config", "deny safety/protected-path"],
    [".codex/config.toml", "deny safety/protected-path"],
    [".github/workflows/ci.yml", "ask default"],
    [".github/dependabot.yml", "ask default"],
    [".gitignore", "allow preset/developer/write"],
    ["/home/me/.ssh/id_rsa", "deny safety/protected-path"],
    ["/home/me/.bashrc", "deny safety/persistence"],
    ["/etc/passwd", "deny safety/system-write"],
    ["/dev/sda", "deny safety/disk-write"],
    ["", "deny safety/protected-path"],
    ["a\u0000b", "deny safety/protected-path"],
    [String.raw`C:\Windows\x`, "deny safety/protected-path"],
    [String.raw`\\host\share\x`, "deny safety/protected-path"],
  ] as const)("of %j is judged %s", ([path, verdict]) => {
    expect(judge(change(path))).toBe(verdict);
  });

  it("is judged by both ends of a move and by its worst file", () => {
    expect(judge(change("src/a.ts", "../src/out.ts"))).toBe("ask default");
    expect(
      judge({
        kind: "fileChange",
        cwd: "/w",
        changes: [
          { path: "a", kind: "add" },
          { path: ".git/x", kind: "delete" },
        ],
      }),
    ).toBe("deny safety/protected-path");
  });

  it("without a list of changes is never allowed", () => {
    expect(judge({ kind: "fileChange", changes: undefined }, { preset: "danger-full-access" })).toBe(
      "ask caution/no-changes",
    );
    expect(judge({ kind: "fileChange", changes: [] }, { preset: "read-only" })).toBe(
      "deny caution/no-changes",
    );
  });

  it("that asks for a root gets at most the workspace", () => {
    const ask = (grantRoot: string): ApprovalRequest => ({
      kind: "fileChange",
      cwd: "/w",
      changes: [{ path: "a", kind: "add" }],
      grantRoot,
    });
    expect(judge(ask("/w/sub"))).toBe("allow preset/developer/write");
    expect(judge(ask("/"))).toMatch(/^deny /);
  });

  it("is limited to the paths of an allow list", () => {
    const allow = [{ kind: "path", glob: "docs/**", access: "write" }] as const;
    expect(judge(change("docs/a.md"), { allow })).toBe("allow allow[0]");
    expect(judge(change("src/a.ts"), { allow })).toBe("ask allow");
  });

  it("treats names as equal regardless of case if the file system does", () => {
    const real = { "/w": "/w", "/W/src": "/W/src", "/W/src/a.ts": "/W/src/a.ts" };
    const facts: PathFacts = { real, caseInsensitive: true };
    expect(judge(change("/W/src/a.ts"), {}, facts)).toBe("allow preset/developer/write");
    expect(judge(change("/W/src/a.ts"))).toBe("ask default");
  });
});

describe("links", () => {
  const root = join(base, "project");
  const outside = join(base, "outside");
  mkdirSync(join(root, ".git"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, "file"), "");
  symlinkSync(outside, join(root, "out"));
  symlinkSync(join(root, ".git"), join(root, "harmless"));
  symlinkSync(join(base, "nowhere"), join(root, "dangling"));
  symlinkSync("loop", join(root, "loop"));
  symlinkSync(root, join(base, "alias"));
  const resolved = async (path: string, workspace = root) => {
    const policy = definePolicy({ workspace: settings(workspace) });
    const request: ApprovalRequest = {
      kind: "fileChange",
      cwd: workspace,
      changes: [{ path, kind: "update" }],
    };
    return evaluatePolicy(policy, request, await resolvePaths(policy, request));
  };

  it("out of the workspace are followed", async () => {
    expect((await resolved("out/file")).decision).toBe("ask");
    expect((await resolved("out/new/deep")).decision).toBe("ask");
    expect((await resolved("src/new.ts")).decision).toBe("allow");
  });

  it("into .git are followed", async () => {
    expect((await resolved("harmless/config")).rule).toBe("safety/protected-path");
  });

  it("that dangle or form a loop are not trusted", async () => {
    expect((await resolved("dangling")).decision).toBe("ask");
    expect((await resolved("loop/x")).decision).toBe("ask");
  });

  it("to the workspace itself count as the workspace", async () => {
    expect((await resolved("a.ts", join(base, "alias"))).decision).toBe("allow");
    expect((await resolved(join(root, "a.ts"), join(base, "alias"))).decision).toBe("allow");
  });

  it("are followed for the redirections of a command", async () => {
    const policy = definePolicy({ workspace: settings(root) });
    const request: ApprovalRequest = { kind: "command", cwd: root, command: "echo x > out/file" };
    expect(evaluatePolicy(policy, request).decision).toBe("allow");
    expect(evaluatePolicy(policy, request, await resolvePaths(policy, request)).decision).toBe("ask");
  });
});
