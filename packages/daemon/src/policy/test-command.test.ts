import { expect, test } from "vitest";
import type { ApprovalPolicy, PermissionMode } from "../api/settings.ts";
import { testCommand } from "./test-command.ts";

const judge = (
  permissionMode: PermissionMode,
  command: string,
  approvalPolicy: ApprovalPolicy = "on-request",
): string =>
  testCommand({ permissionMode, agentMode: "build", approvalPolicy }, { cwd: "/work/project", command })
    .decision;

test("a command is judged by the session's mode, with a verdict per segment", () => {
  expect(judge("read-only", "ls -la")).toBe("allow");
  expect(judge("read-only", "touch a")).toBe("ask");
  expect(judge("workspace-write", "touch a")).toBe("allow");
  expect(judge("workspace-write", "touch /srv/a")).toBe("ask");
  expect(judge("workspace-write", "touch a", "untrusted")).toBe("ask");
  expect(judge("workspace-write", "ls", "untrusted")).toBe("allow");
  expect(judge("danger-full-access", "touch /srv/a")).toBe("allow");
  expect(judge("danger-full-access", "rm -rf /")).toBe("deny");
  expect(judge("bypass", "rm -rf /")).toBe("allow");
  for (const agentMode of ["chat", "plan"] as const) {
    const { decision, parse } = testCommand(
      { permissionMode: "bypass", agentMode, approvalPolicy: "on-request" },
      { cwd: "/work/project", command: "ls && touch a" },
    );
    expect(decision).toBe("ask");
    expect(parse.map((part) => [part.command, part.decision])).toEqual([
      ["ls", "allow"],
      ["touch a", "ask"],
    ]);
  }
});
