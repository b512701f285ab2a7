import { describe, expect, test } from "vitest";
import type { InboxRequest } from "../api/approval.ts";
import { isShown } from "./is-shown.ts";
import type { ModelCall } from "./rollout-lines.ts";

function command(shown: string | null): InboxRequest {
  return {
    kind: "command",
    action: "command",
    command: shown,
    cwd: "/work",
    reason: null,
    network: null,
    additionalPermissions: null,
  };
}

function commandCall(args: Record<string, unknown>): ModelCall {
  return {
    callId: "call",
    type: "function_call",
    name: "exec_command",
    namespace: undefined,
    input: JSON.stringify(args),
    atByte: 0,
  };
}

const PATCH = ["*** Begin Patch", "*** Update File: src/a.ts", "@@", "-old", "+new", "*** End Patch"].join(
  "\n",
);

function patchCall(patch: string): ModelCall {
  return {
    callId: "call",
    type: "custom_tool_call",
    name: "apply_patch",
    namespace: undefined,
    input: patch,
    atByte: 0,
  };
}

function change(path: string, diff: string): InboxRequest {
  return { kind: "fileChange", reason: null, grantRoot: null, changes: [{ path, kind: "update", diff }] };
}

describe("a command", () => {
  test.each([
    ["/bin/bash -lc make", { cmd: "make" }, true],
    [`/bin/bash -lc 'echo "a b" > c'`, { cmd: `echo "a b" > c` }, true],
    [`/bin/bash -lc "echo 'it'"`, { cmd: "echo 'it'", workdir: "sub" }, true],
    ["/bin/bash -lc make", { cmd: "make install" }, false],
    ["/bin/bash -lc 'make test'", { cmd: "make" }, false],
    ["/bin/bash -lc 'rm a; make'", { cmd: "make" }, false],
    ["/bin/bash -lc make", { cmd: "make", shell: "/tmp/bash" }, false],
    ["/bin/bash -lc make", { cmd: "make", sandbox_permissions: "require_escalated" }, false],
    ["/bin/bash -lc make", {}, false],
    [null, { cmd: "make" }, false],
  ])("shown as %j, called with %j: %j", (shown, args, expected) => {
    expect(isShown(command(shown), commandCall(args))).toBe(expected);
  });
});

describe("a patch", () => {
  test.each([
    ["as shown", PATCH, true],
    ["of another file", PATCH.replace("src/a.ts", "src/b.ts"), false],
    ["with another line", PATCH.replace("+new", "+evil"), false],
    ["with a second file", PATCH.replace("*** End", "*** Delete File: b.ts\n*** End"), false],
  ])("%s", (_what, patch, expected) => {
    const shown = change("/work/src/a.ts", "@@ -1 +1 @@\n-old\n+new\n");
    expect(isShown(shown, patchCall(patch))).toBe(expected);
  });

  test("that Codex did not describe", () => {
    const request: InboxRequest = { kind: "fileChange", reason: null, grantRoot: null, changes: null };
    expect(isShown(request, patchCall(PATCH))).toBe(false);
  });
});
