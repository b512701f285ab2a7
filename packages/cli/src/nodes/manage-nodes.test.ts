import { say } from "@codexkit/scripted-model";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CliTerminal } from "../../test/cli-terminal.ts";
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

describe("nodes that are lost for good", () => {
  let lost: TestDaemon;

  beforeAll(async () => {
    lost = await startTestDaemon(() => [say("Hello.")], { killedNodes: ["gone", "copied", "other"] });
  });

  afterAll(() => lost[Symbol.asyncDispose]());

  async function sessionOf(nodeName: string) {
    const sessionId = lost.sessions.get(nodeName) ?? "";
    return lost.client.request("GET /sessions/{sessionId}", { params: { sessionId } });
  }

  // The first one: the others need the nodes to be lost.
  test("are listed as lost once their leases have ended", async () => {
    const list = async () => (await lost.json<ListedNode>(["nodes"])).map(({ state }) => state);
    await expect.poll(list, { timeout: 20_000 }).toEqual(["up", "lost", "lost", "lost"]);
  });

  test("are not removed without confirmation if sessions would fail", async () => {
    const finished = await lost.run(["nodes", "remove", "gone"]);

    expect(finished).toMatchObject({ exitCode: 2, stdout: "" });
    expect(finished.stderr).toBe(
      "error: Removing gone would fail 1 session whose folder is on it.\n" +
        "Pass --yes to fail the session, or --rehome if the folder exists on other nodes.\n",
    );
    expect(await sessionOf("gone")).toMatchObject({ phase: "idle", problem: null });
  });

  test("are kept if the question on a terminal is answered with no", async () => {
    await using terminal = new CliTerminal(["nodes", "remove", "gone"], { env: lost.env });
    await terminal.waitFor("Remove gone and fail 1 session whose folder is on it?");
    terminal.write("n");

    expect(await terminal.exited).toBe(1);
    expect(await sessionOf("gone")).toMatchObject({ phase: "idle", problem: null });
  });

  test("are removed with --yes, and the sessions in their folders fail", async () => {
    const finished = await lost.run(["nodes", "remove", "--yes", "gone"]);

    expect(finished).toMatchObject({ exitCode: 0, stdout: "Removed gone.\n", stderr: "" });
    expect(await sessionOf("gone")).toMatchObject({ phase: "failed", problem: { type: "node_lost" } });
    const names = (await lost.json<ListedNode>(["nodes"])).map(({ name }) => name);
    expect(names.toSorted()).toEqual(["copied", "local", "other"]);
  });

  test("are removed with --rehome, and other nodes run their sessions", async () => {
    const finished = await lost.run(["nodes", "remove", "--rehome", "copied"]);

    expect(finished).toMatchObject({ exitCode: 0, stdout: "Removed copied.\n", stderr: "" });
    const { id } = await sessionOf("copied");
    await lost.client.send(id, "hello");
    for await (const event of lost.client.sessionEvents(id)) if (event.type === "turn.completed") break;
    expect(await sessionOf("copied")).toMatchObject({ node: "local", problem: null });
  });

  test("are removed by ID, and printed as JSON", async () => {
    const listed = await lost.json<ListedNode>(["nodes"]);
    const id = listed.find(({ name }) => name === "other")?.id ?? "";

    expect(await lost.json(["nodes", "remove", "--yes", id])).toEqual([{ removed: id, name: "other" }]);
    expect(await lost.json<ListedNode>(["nodes"])).toMatchObject([{ name: "local" }]);
  });
});

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
    expect(finished.stderr).toContain('requires the scope "admin".');
  });

  // The last ones: a drained node takes no more sessions.
  test("are drained, and waited for, and the sessions that can't move are counted", async () => {
    const { session } = await daemon.client.createSession({ cwd: daemon.workspace }, { wait: 30_000 });
    const [node] = await daemon.json<ListedNode>(["nodes"]);
    expect(node).toMatchObject({ pinnedSessions: 1 });
    const waited = await daemon.run(["nodes", "drain", "--timeout", "1m", node?.id ?? ""]);

    expect(waited).toMatchObject({ exitCode: 0, stdout: "local is drained.\n" });
    expect(waited.stderr).toBe(
      "1 session can't move, because its folder is on local. It waits until the node is started again.\n",
    );
    const sent = daemon.client.send(session.id, "hello");
    await expect(sent).rejects.toMatchObject({
      code: "draining",
      message: expect.stringContaining('The node "local" is drained and accepts no commands. Restart it'),
    });
    await expect(sent).rejects.not.toHaveProperty("problem.retryAfter");
  });

  test("that are drained keep their lease, and can't be removed while they run", async () => {
    const [node] = await daemon.json<ListedNode>(["nodes"]);
    expect(node).toMatchObject({ name: "local", state: "draining", sessions: 0 });
    const refused = await daemon.run(["nodes", "remove", "--yes", "local"]);

    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toContain("error: The node local is draining, not lost.\n");
    const deleted = daemon.client.request("DELETE /nodes/{nodeId}", { params: { nodeId: node?.id ?? "" } });
    await expect(deleted).rejects.toMatchObject({ code: "unprocessable" });
  });
});

test("labels that no node has are named as the reason for stranded sessions", async () => {
  await using short = await startTestDaemon(() => [say("Hello.")], { leaseMs: 2_000 });
  await short.client.createSession({ cwd: short.workspace, labels: ["gpu"] });
  const list = async () => (await short.run(["nodes"])).stderr;

  await expect
    .poll(list, { timeout: 20_000 })
    .toBe(
      'Some sessions are stranded: the node local lacks the label "gpu".\n' +
        "`codexkit sessions list --phase stranded` lists them.\n",
    );
});
