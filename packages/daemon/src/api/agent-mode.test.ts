import { describe, expect, test } from "vitest";
import { permissionsOf } from "./agent-mode.ts";
import type { SessionSettings } from "./settings.ts";

const settings = (changes: Partial<SessionSettings>): SessionSettings => ({
  permissionMode: "workspace-write",
  agentMode: "build",
  approvalPolicy: "on-request",
  ...changes,
});

describe("permission modes", () => {
  test.each([
    [{ permissionMode: "read-only" }, "read-only", "on-request"],
    [{ permissionMode: "workspace-write", approvalPolicy: "never" }, "workspace-write", "never"],
    [{ permissionMode: "workspace-write", approvalPolicy: "untrusted" }, "workspace-write", "untrusted"],
    // The daemon's policy evaluates every command, so Codex must ask about every command.
    [{ permissionMode: "danger-full-access" }, "danger-full-access", "untrusted"],
    [{ permissionMode: "bypass" }, "danger-full-access", "never"],
    [{ permissionMode: "bypass", agentMode: "chat" }, "read-only", "never"],
    [{ permissionMode: "workspace-write", agentMode: "plan" }, "read-only", "on-request"],
    [{ permissionMode: "danger-full-access", agentMode: "plan" }, "read-only", "never"],
    [{ permissionMode: "bypass", agentMode: "plan" }, "read-only", "never"],
  ] as const)("%o run with sandbox %s and approval policy %s", (changes, sandbox, approvalPolicy) => {
    expect(permissionsOf(settings(changes))).toEqual({ sandbox, approvalPolicy });
  });
});
