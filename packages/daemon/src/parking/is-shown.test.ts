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
    [`/bin/bash -lc 'echo '"'"'it'"'"''`, { cmd: "echo 'it'" }, true],
    // Quotes change which command runs.
    [`/bin/bash -lc 'echo "a; rm b"'`, { cmd: "echo a; rm b" }, false],
    [`/bin/bash -lc "rm 'a b'"`, { cmd: "rm a b" }, false],
    [String.raw`/bin/bash -lc 'echo \;rm b'`, { cmd: "echo ;rm b" }, false],
    ["make", { cmd: "make" }, false],
    ["/bin/bash -lc make", { cmd: "make install" }, false],
    ["/bin/bash -lc 'make test'", { cmd: "make" }, false],
    ["/bin/bash -lc 'rm a; make'", { cmd: "make" }, false],
    ["/bin/bash -lc make", { cmd: "make", shell: "/tmp/bash" }, false],
    ["/bin/bash -lc make", { cmd: "make", sandbox_permissions: "require_escalated" }, false],
    ["/bin/bash -lc make", {}, false],
    [null, { cmd: "make" }, false],
  ])("shown as %j, called with %j: %j", (shown, args, expected) => {
    expect(isShown(command(shown), commandCall(args), "/work")).toBe(expected);
  });
});

describe("a patch", () => {
  test.each([
    ["as shown", PATCH, true],
    ["with context", PATCH.replace("-old", " before\n-old"), true],
    ["of another file", PATCH.replace("src/a.ts", "src/b.ts"), false],
    ["of a file of the same name elsewhere", PATCH.replace("src/a.ts", "a.ts"), false],
    ["with another line", PATCH.replace("+new", "+evil"), false],
    ["with a part of a line", PATCH.replace("+new", "+ne"), false],
    ["with another target", PATCH.replace("@@", "*** Move to: b.ts\n@@"), false],
    ["with a second file", PATCH.replace("*** End", "*** Delete File: b.ts\n*** End"), false],
    ["with a marker that has blanks", PATCH.replace("*** End", "  *** Delete File: b.ts\n*** End"), false],
    ["with lines of no file", PATCH.replace("*** Update File: src/a.ts\n", ""), false],
  ])("%s", (_what, patch, expected) => {
    const shown = change("/work/src/a.ts", "@@ -1 +1 @@\n-old\n+new\n");
    expect(isShown(shown, patchCall(patch), "/work")).toBe(expected);
  });

  test("that moves a file", () => {
    const shown = change("/work/src/a.ts", "@@ -1 +1 @@\n-old\n+new\n\n\nMoved to: /work/b.ts");
    const move = (target: string) => patchCall(PATCH.replace("@@", `*** Move to: ${target}\n@@`));
    expect(isShown(shown, move("b.ts"), "/work")).toBe(true);
    expect(isShown(shown, move("../b.ts"), "/work")).toBe(false);
    expect(isShown(shown, patchCall(PATCH), "/work")).toBe(false);
  });

  test("of new and deleted files", () => {
    const request: InboxRequest = {
      kind: "fileChange",
      reason: null,
      grantRoot: null,
      changes: [
        { path: "/work/notes.md", kind: "add", diff: "run it\nfrom ~/.bashrc\n" },
        { path: "/work/old.md", kind: "delete", diff: "old\n" },
      ],
    };
    const patch = [
      "*** Begin Patch",
      "*** Add File: notes.md",
      "+run it",
      "+from ~/.bashrc",
      "*** Delete File: old.md",
      "*** End Patch",
    ].join("\n");
    expect(isShown(request, patchCall(patch), "/work")).toBe(true);
    // A line of a file's contents can look like the description of another file.
    const other = patch.replace(
      "Add File: notes.md\n+run it\n+from ~/.bashrc",
      "Add File: ~/.bashrc\n+run it",
    );
    expect(isShown(request, patchCall(other), "/work")).toBe(false);
    const swapped = patch
      .replace("notes.md", "old.md")
      .replace("Delete File: old.md", "Delete File: notes.md");
    expect(isShown(request, patchCall(swapped), "/work")).toBe(false);
  });

  test("that Codex did not describe", () => {
    const request: InboxRequest = { kind: "fileChange", reason: null, grantRoot: null, changes: null };
    expect(isShown(request, patchCall(PATCH), "/work")).toBe(false);
  });
});
