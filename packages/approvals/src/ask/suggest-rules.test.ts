import { describe, expect, it } from "vitest";
import { definePolicy, parseRule, remember } from "../policy/define-policy.ts";
import { evaluatePolicy } from "../policy/evaluate-policy.ts";
import type { ApprovalRequest } from "../request/request.ts";
import { suggestRules } from "./suggest-rules.ts";

const policy = definePolicy({ workspace: "/srv/app" });

/** Decides other requests after one was always allowed. */
function after(request: ApprovalRequest): (other: object) => string {
  const rules = suggestRules(request, evaluatePolicy(policy, request)).map((rule) =>
    parseRule(structuredClone(rule)),
  );
  const next = remember(policy, rules);
  return (other) => evaluatePolicy(next, { ...request, ...other }).decision;
}

describe("what is always allowed", () => {
  it.each<readonly [string, ApprovalRequest, object]>([
    [
      "a script in another folder",
      { kind: "command", command: "cp a ../b", cwd: "/srv/app" },
      { cwd: "/home/u/x" },
    ],
    [
      "words in another folder",
      { kind: "command", command: ["frob", "--all"], cwd: "/srv/app" },
      { cwd: "/etc" },
    ],
    [
      "the same words after a cd",
      { kind: "command", command: ["frob", "--all"], cwd: "/srv/app" },
      { command: "cd /opt && frob --all" },
    ],
    [
      "a script in which the words are a pattern",
      { kind: "command", command: ["frob", "*"], cwd: "/srv/app" },
      { command: "frob *" },
    ],
    [
      "the deletion of a file that was changed",
      { kind: "fileChange", changes: [{ path: "/opt/x", kind: "update" }] },
      { changes: [{ path: "/opt/x", kind: "delete" }] },
    ],
    [
      "moving away a file that was changed",
      { kind: "fileChange", changes: [{ path: "/opt/x", kind: "update" }] },
      { changes: [{ path: "/opt/x", kind: "update", movePath: "/srv/app/x" }] },
    ],
    ["text typed into a process", { kind: "command", command: "frob", cwd: "/srv/app" }, { stdin: true }],
    ["another tool", { kind: "mcpTool", server: "s", tool: "*" }, { tool: "delete" }],
    [
      "a tool that matches a literal name as a pattern",
      { kind: "mcpTool", server: "s", tool: "get_*" },
      { tool: "get_all" },
    ],
    ["another server", { kind: "mcpTool", server: "*", tool: "x" }, { server: "t" }],
    ...["/opt/*", "/opt/**", "/opt/?", "/opt/{a,b}"].map(
      (path) =>
        [
          `a file that matches ${path} as a pattern`,
          { kind: "fileChange", changes: [{ path, kind: "add" }], cwd: "/srv/app" },
          { changes: [{ path: "/opt/a", kind: "add" }] },
        ] as const,
    ),
    [
      "another port",
      { kind: "command", command: "frob", cwd: "/srv/app", network: { host: "x.example", port: 443 } },
      { network: { host: "x.example", port: 22 } },
    ],
    ["another port of an address", { kind: "network", host: "2001:db8::1", port: 80 }, { port: 81 }],
  ])("is not %s", (_, request, other) => {
    const decide = after(request);
    expect(decide({})).toBe("allow");
    expect(decide(other)).not.toBe("allow");
  });

  it("is a file relative to the folder of the request", () => {
    const decide = after({ kind: "fileChange", changes: [{ path: "../x", kind: "add" }], cwd: "/srv/app" });
    expect(decide({})).toBe("allow");
    expect(decide({ cwd: "/opt/y" })).not.toBe("allow");
  });

  it("is never every host", () => {
    const request = { kind: "network", host: "*", port: 443 } as const;
    expect(suggestRules(request, { ...evaluatePolicy(policy, request), decision: "ask" })).toEqual([]);
  });
});
