import type { InboxRequest } from "@codexkit/daemon/client";
import { describe, expect, it } from "vitest";
import { approvalOf, commandRequest } from "./approval.fixture.ts";
import { describeSandbox, isOfAgent, sessionName, summarize, titleOf } from "./describe-request.ts";

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
  it("describes the sandbox that a command would leave", () => {
    expect(describeSandbox(commandRequest, settings)).toBe(
      "workspace-write, network off → would run outside the sandbox",
    );
    expect(describeSandbox(commandRequest, { ...settings, agentMode: "plan" })).toBe(
      "read-only, network off → would run outside the sandbox",
    );
    expect(describeSandbox(commandRequest, undefined)).toBe("would run outside the sandbox");
  });

  it("distinguishes a command with more permissions from one without a sandbox", () => {
    const permissions = { network: { enabled: true }, fileSystem: null };
    expect(describeSandbox({ ...commandRequest, additionalPermissions: permissions }, settings)).toContain(
      "in the sandbox",
    );
  });

  it("is null for questions", () => {
    expect(describeSandbox({ kind: "userInput", questions: [], isBlocking: true }, settings)).toBeNull();
  });
});

describe("isOfAgent", () => {
  it("compares the request's thread with the session's thread", () => {
    const approval = approvalOf(commandRequest, { threadId: "child" });
    expect(isOfAgent(approval, { threadId: "root" })).toBe(true);
    expect(isOfAgent(approval, { threadId: "child" })).toBe(false);
    expect(isOfAgent(approval, { threadId: null })).toBe(false);
    expect(isOfAgent(approval, undefined)).toBe(false);
  });
});

describe("sessionName", () => {
  it("falls back to the newest message and to the ID", () => {
    expect(sessionName({ name: "fix parser", preview: "" }, "id")).toBe("fix parser");
    expect(sessionName({ name: null, preview: "Fix\nthe parser" }, "id")).toBe("Fix ⏎ the parser");
    expect(sessionName(undefined, "session-1")).toBe("session-");
  });
});
