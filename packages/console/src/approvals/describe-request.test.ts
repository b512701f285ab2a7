import type { InboxRequest } from "@codexkit/daemon/client";
import { describe, expect, it } from "vitest";
import { approvalOf, commandRequest } from "./approval.fixture.ts";
import { describeSandbox, originOf, summarize, titleOf } from "./describe-request.ts";

const settings = {
  permissionMode: "workspace-write",
  agentMode: "build",
  approvalPolicy: "on-request",
} as const;

describe("titleOf and summarize", () => {
  it.each<[InboxRequest, string, string]>([
    [commandRequest, "Run a command", "npm test && docker compose up -d"],
    [{ ...commandRequest, action: "writeStdin", command: "y\n" }, "Type into a running command", "y"],
    [
      { ...commandRequest, network: { host: "evil\u202e.example", protocol: "https" } },
      "Connect to evil⟪RLO⟫.example",
      "connect to evil⟪RLO⟫.example",
    ],
    [
      {
        kind: "fileChange",
        reason: null,
        grantRoot: null,
        changes: [{ path: "a.ts", kind: "update", diff: "" }],
      },
      "Change a file",
      "a.ts",
    ],
    [
      { kind: "elicitation", server: "shop", mode: "form", message: "Who\nare you?", schema: {}, url: null },
      "shop asks",
      "Who ⏎ are you?",
    ],
  ])("describes %j", (request, title, summary) => {
    expect(titleOf(request)).toBe(title);
    expect(summarize(request)).toBe(summary);
  });
});

describe("describeSandbox", () => {
  it("says what a command would escape from", () => {
    expect(describeSandbox(commandRequest, settings)).toBe(
      "workspace-write, network off → would run outside the sandbox",
    );
    expect(describeSandbox(commandRequest, { ...settings, agentMode: "plan" })).toBe(
      "read-only, network off → would run outside the sandbox",
    );
    expect(describeSandbox(commandRequest, undefined)).toBe("would run outside the sandbox");
  });

  it("tells a command with more permissions from one without a sandbox", () => {
    const permissions = { network: { enabled: true }, fileSystem: null };
    expect(describeSandbox({ ...commandRequest, additionalPermissions: permissions }, settings)).toContain(
      "in the sandbox",
    );
  });

  it("has nothing to say about questions", () => {
    expect(describeSandbox({ kind: "userInput", questions: [], isBlocking: true }, settings)).toBeNull();
  });
});

describe("originOf", () => {
  it("names the session, and the agent if another thread asks", () => {
    const approval = approvalOf(commandRequest, { threadId: "child" });
    const session = { name: "fix parser", preview: "", threadId: "root" };
    expect(originOf(approval, session, "reviewer")).toBe("fix parser › reviewer");
    expect(originOf(approval, { ...session, threadId: "child" })).toBe("fix parser");
    expect(originOf(approval, { name: null, preview: "Fix\nthe parser", threadId: null })).toBe(
      "Fix ⏎ the parser",
    );
    expect(originOf(approval, undefined)).toBe("session-");
  });
});
