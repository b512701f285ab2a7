import { say } from "@codexkit/scripted-model";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestDaemon, type TestDaemon } from "../../test/test-daemon.ts";

interface ListedNode {
  readonly id: string;
  readonly name: string;
  readonly state: string;
}

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startTestDaemon(() => [say("Hello.")]);
});

afterAll(() => daemon[Symbol.asyncDispose]());

describe("nodes", () => {
  test("are listed as a table and as JSON, which is the default", async () => {
    const table = await daemon.run(["nodes"]);
    const [node] = await daemon.json<ListedNode>(["nodes", "list"]);

    expect(table).toMatchObject({ exitCode: 0, stderr: "" });
    expect(table.stdout).toMatch(/^NAME +STATE +SESSIONS +TURNS +LEASE +LABELS +CODEX +URL\n/);
    expect(table.stdout).toMatch(/^local +up +0\/200 +0 +\d+/m);
    expect(node).toMatchObject({ name: "local", state: "up" });
  });

  test.each([
    ["drain", 'error: There is no node with the ID or name "elsewhere".\n'],
    ["remove", 'error: There is no node with the ID or name "elsewhere".\n'],
  ])("that don't exist can't be used with %s, and the others are left alone", async (command, message) => {
    const finished = await daemon.run(["nodes", command, "local", "elsewhere"]);

    expect(finished).toMatchObject({ exitCode: 1, stdout: "" });
    expect(finished.stderr).toContain(message);
    expect(await daemon.json<ListedNode>(["nodes"])).toMatchObject([{ state: "up" }]);
  });

  test("that run can't be removed", async () => {
    const finished = await daemon.run(["nodes", "remove", "local"]);

    expect(finished).toMatchObject({ exitCode: 1, stdout: "" });
    expect(finished.stderr).toContain("error: The node local is up, not lost.\n");
  });

  test("need a token with the scope admin to be drained", async () => {
    await daemon.client.request("PUT /tenants/{tenantId}", { params: { tenantId: "blue" }, body: {} });
    const { stdout } = await daemon.run([
      "token",
      "create",
      "--scope",
      "read,write",
      "--tenant",
      "blue",
      "reader",
    ]);
    const env = { ...daemon.env, CODEXKIT_TOKEN: stdout.trim() };
    const finished = await daemon.run(["nodes", "drain", "local"], { env });

    expect(finished).toMatchObject({ exitCode: 1, stdout: "" });
    expect(finished.stderr).toContain('This needs the scope "admin".');
  });

  // The last one: a drained node takes no more sessions.
  test("are drained, and waited for", async () => {
    const [node] = await daemon.json<ListedNode>(["nodes"]);
    const waited = await daemon.run(["nodes", "drain", "--timeout", "1m", node?.id ?? ""]);

    expect(waited).toMatchObject({ exitCode: 0, stdout: "local is drained.\n" });
  });
});
