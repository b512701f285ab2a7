import type { Codex, v2 } from "codexkit";
import { expect, test } from "vitest";
import type { InboxRequest } from "../api/approval.ts";
import { sandboxPolicyOf } from "../sessions/map-settings.ts";
import { perform } from "./perform.ts";

/** The sandbox that an accepted command gets. */
async function sandboxFor(mode: v2.SandboxMode, args: object): Promise<unknown> {
  const used: unknown[] = [];
  const run = (_: readonly string[], { sandbox }: { sandbox: unknown }): Promise<object> => {
    used.push(sandbox);
    return Promise.resolve({ exitCode: 0, stdout: "", stderr: "" });
  };
  const codex = { exec: { run } } as unknown as Codex;
  const request = { kind: "command", command: "/bin/sh -c make", cwd: "/work/deep", reason: null };
  const input = JSON.stringify({ cmd: "make", ...args });
  await perform(
    request as unknown as InboxRequest,
    { type: "function_call", name: "exec_command", callId: "call", input } as Parameters<typeof perform>[1],
    { codex, threadId: "thread", cwd: "/work", sandbox: sandboxPolicyOf(mode) },
  );
  return used[0];
}

test("a command inside the sandbox can write to the session's folder, as in its thread", async () => {
  expect(await sandboxFor("workspace-write", {})).toMatchObject({
    type: "workspaceWrite",
    writableRoots: ["/work"],
    networkAccess: false,
  });
  expect(await sandboxFor("read-only", {})).toEqual({ type: "readOnly", networkAccess: false });
  expect(await sandboxFor("read-only", { sandbox_permissions: "require_escalated" })).toEqual({
    type: "dangerFullAccess",
  });
});
