import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import type { Node, Tenant } from "../src/api/fleet.ts";
import type { Command, Session } from "../src/api/session.ts";
import type { Database } from "../src/database.ts";
import { allEvents, delta, newSession, NODE, useDatabases } from "./database-fixture.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

async function nodes(api: TestDaemon): Promise<readonly Node[]> {
  const response = await api.request("GET /nodes");
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Node[] }).data;
}

/** Creates a node that ended without releasing its session, so that the session is stranded. */
async function loseNode(database: Database): Promise<{ nodeId: string; sessionId: string }> {
  const { session } = await database.sessions.insert(newSession({ needs: ["node:gone"] }));
  const nodeId = await database.nodes.register({ ...NODE, name: "gone" });
  const [owner] = await database.sessions.claim({
    nodeId,
    name: "gone",
    limit: 1,
    labels: ["node:gone"],
    codexVersion: NODE.codexVersion,
  });
  if (!owner) throw new Error("The session was not claimed.");
  await database.sessions.update(owner, { activeTurnId: "turn", threadId: "thread" }, [
    { type: "turn.started", threadId: "thread", turnId: "turn" },
    delta("He", 0),
  ]);
  await database.nodes.retire(nodeId);
  return { nodeId, sessionId: session.id };
}

describe.each(STORE_KINDS)("on %s", (kind) => {
  const databases = useDatabases(kind);

  test("a daemon lists itself, and counts its sessions", async () => {
    await using api = await startTestDaemon(await databases.open());
    await api.request("POST /sessions?wait=10000", { json: { cwd: api.root } });
    expect(await nodes(api)).toEqual([
      expect.objectContaining({ name: "here", state: "up", isCurrent: true, sessions: 1, url: null }),
    ]);
  });

  test("a node lists how many sessions would fail without it, whether it runs or not", async () => {
    const database = await databases.open();
    await using api = await startTestDaemon(database);
    const { sessionId } = await loseNode(database);
    for (let index = 0; index < 2; index++) {
      await api.request("POST /sessions?wait=10000", { json: { cwd: api.root } });
    }
    const environment = { url: "ws://127.0.0.1:1" };
    await api.request("POST /sessions?wait=10000", { json: { cwd: "/work", environment } });
    const counts = async () =>
      Object.fromEntries((await nodes(api)).map(({ name, pinnedSessions }) => [name, pinnedSessions]));
    expect(await counts()).toEqual({ here: 2, gone: 1 });
    await database.store.db
      .updateTable("session")
      .set({ phase: "failed" })
      .where("id", "=", sessionId)
      .execute();
    expect(await counts()).toEqual({ here: 2, gone: 0 });
  });

  test("a drained node without others says that it must be restarted, and asks for no retry", async () => {
    await using api = await startTestDaemon(await databases.open());
    const created = await api.request("POST /sessions?wait=10000", { json: { cwd: api.root } });
    const { session } = (await created.json()) as { session: Session };
    const [{ id } = { id: "" }] = await nodes(api);
    await api.request(`POST /nodes/${id}/drain`);
    await expect.poll(() => api.runner.status.state).toBe("draining");
    for (const operation of ["POST /sessions", `POST /sessions/${session.id}/messages`]) {
      const json = operation === "POST /sessions" ? { cwd: api.root } : { input: "hello" };
      const refused = await api.request(operation, { json });
      expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
        503,
        null,
        expect.objectContaining({
          type: "draining",
          detail: expect.stringContaining('The node "here" is drained and accepts no commands. Restart it'),
        }),
      ]);
    }
    await api.database.nodes.register({ ...NODE, name: "other" });
    const refused = await api.request("POST /sessions", { json: { cwd: api.root } });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  });

  test("a lost node is listed as long as a session needs it, and can be removed", async () => {
    const database = await databases.open();
    await using api = await startTestDaemon(database);
    const { nodeId, sessionId } = await loseNode(database);
    expect(await nodes(api)).toContainEqual(
      expect.objectContaining({ id: nodeId, name: "gone", state: "lost", sessions: 1, runningTurns: 0 }),
    );
    const drain = await api.request(`POST /nodes/${nodeId}/drain`);
    expect([drain.status, await drain.json()]).toEqual([503, expect.objectContaining({ type: "node_lost" })]);

    const sent = await api.request(`POST /sessions/${sessionId}/messages`, { json: { input: "hello" } });
    const waiting = (await sent.json()) as Command;
    const deleted = await api.request(`DELETE /nodes/${nodeId}`);
    expect(deleted.status).toBe(204);
    const session = (await (await api.request(`GET /sessions/${sessionId}`)).json()) as Session;
    expect(session).toMatchObject({ phase: "failed", activeTurnId: null, problem: { type: "node_lost" } });
    const command = await api.request(`GET /sessions/${sessionId}/commands/${waiting.id}?wait=10000`);
    expect(await command.json()).toMatchObject({ state: "failed", problem: { type: "node_lost" } });
    const ends = (await allEvents(database, sessionId)).filter(({ type }) =>
      /failed|finished|updated/.test(type),
    );
    expect(ends.map(({ type }) => type)).toEqual([
      "command.finished",
      "command.finished",
      "turn.failed",
      "session.updated",
    ]);
    expect(await nodes(api)).not.toContainEqual(expect.objectContaining({ name: "gone" }));
    expect((await api.request(`DELETE /nodes/${nodeId}`)).status).toBe(404);
  });

  test("a session of a lost node can continue on a node that has the same folders", async () => {
    const database = await databases.open();
    await using api = await startTestDaemon(database);
    const { nodeId, sessionId } = await loseNode(database);
    expect((await api.request(`DELETE /nodes/${nodeId}?rehome=true`)).status).toBe(204);
    expect((await database.sessions.require(sessionId)).needs).toBe("[]");
    await api.runner.claim();
    expect(await database.sessions.require(sessionId)).toMatchObject({ last_node: "here" });
  });

  test("a node that returns while it is given up keeps its new boot, and its old one can't come back", async () => {
    const database = await databases.open();
    await using api = await startTestDaemon(database);
    const { nodeId } = await loseNode(database);
    const { store, nodes: boots, commands } = database;
    // As if it hung.
    await store.db.updateTable("node").set({ lease_until: 1 }).where("id", "=", nodeId).execute();
    const unfinished = commands.unfinished.bind(commands);
    let old: unknown = "not renewed";
    let newId = "";
    commands.unfinished = async (id) => {
      commands.unfinished = unfinished;
      old = await boots.renew(nodeId);
      newId = await boots.register({ ...NODE, name: "gone" });
      return unfinished(id);
    };
    expect((await api.request(`DELETE /nodes/${nodeId}`)).status).toBe(204);
    expect(old).toBeUndefined();
    expect(await boots.renew(newId)).toBeDefined();
    expect((await boots.list()).map(({ id }) => id)).not.toContain(nodeId);
  });

  test("a running node can't be removed", async () => {
    await using api = await startTestDaemon(await databases.open());
    const [{ id } = { id: "" }] = await nodes(api);
    const refused = await api.request(`DELETE /nodes/${id}`);
    expect([refused.status, await refused.json()]).toEqual([
      422,
      expect.objectContaining({ detail: expect.stringContaining('"here" is running') }),
    ]);
  });

  test("a node that can't renew its lease is not ready, and reports this in its metrics", async () => {
    await using api = await startTestDaemon(await databases.open());
    expect((await api.request("GET /ready")).status).toBe(200);
    api.runner.isFrozen = true;
    const ready = await api.request("GET /ready");
    expect([ready.headers.get("retry-after"), await ready.json()]).toEqual([
      "5",
      expect.objectContaining({ type: "store_unavailable", state: "frozen" }),
    ]);
    const metrics = await (await api.request("GET /metrics")).text();
    expect(metrics).toContain("codexkit_frozen 1\n");
    expect(metrics).toContain('codexkit_node_state{state="frozen"} 1\n');
    expect(metrics).toContain('codexkit_node_state{state="running"} 0\n');
  });

  test("sessions that no node can run wait up to the limit, and messages to them don't count", async () => {
    await using api = await startTestDaemon(await databases.open(), { limits: { waitingSessions: 2 } });
    const create = async (): Promise<Response> =>
      api.request("POST /sessions", { json: { cwd: api.root, labels: ["gpu"] } });
    const { session } = (await (await create()).json()) as { session: Session };
    expect((await create()).status).toBe(202);
    const refused = await create();
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
      429,
      "5",
      expect.objectContaining({ type: "too_many_waiting" }),
    ]);
    const path = `POST /sessions/${session.id}/messages`;
    expect((await api.request(path, { json: { input: "hello" } })).status).toBe(202);
    expect((await api.request(`DELETE /sessions/${session.id}`)).status).toBe(202);
  });

  test("a node drains on request, and the request is in the audit trail", async () => {
    await using api = await startTestDaemon(await databases.open());
    const [{ id } = { id: "" }] = await nodes(api);
    expect((await api.request(`POST /nodes/${id}/drain`)).status).toBe(202);
    await expect.poll(() => api.runner.status.state).toBe("draining");
    const audit = (await (await api.request("GET /audit")).json()) as { data: { action: string }[] };
    expect(audit.data[0]).toMatchObject({ action: "node.drained", subject: id, detail: { name: "here" } });
  });

  test.each([
    ["GET /tenants", ["read", "write", "approve"]],
    ["PUT /tenants/team", ["read", "write", "approve"]],
    ["POST /nodes/some/drain", ["read", "write", "approve"]],
    ["DELETE /nodes/some", ["read", "write", "approve"]],
    ["GET /nodes", ["write", "approve", "admin"]],
  ] as const)("%s is refused without its scope", async (operation, scopes) => {
    await using api = await startTestDaemon(await databases.open());
    const headers = { authorization: `Bearer ${await api.createToken(scopes)}` };
    const response = await api.request(operation, {
      headers,
      ...(operation.startsWith("PUT") && { json: {} }),
    });
    expect(response.status).toBe(403);
  });

  test("sessions belong to the tenant of the token, also if a login of the token creates them", async () => {
    await using api = await startTestDaemon(await databases.open());
    const body = { name: "ci", scopes: ["read", "write"], tenant: "team" };
    const early = await api.request("POST /tokens", { json: body });
    expect([early.status, await early.json()]).toEqual([
      422,
      expect.objectContaining({ detail: expect.stringContaining("PUT /tenants/team") }),
    ]);
    const put = await api.request("PUT /tenants/team", { json: { maxActive: 5 } });
    expect(await put.json()).toEqual({
      id: "team",
      maxActive: 5,
      maxWaiting: null,
      weight: 1,
      active: 0,
      waiting: 0,
    });
    const created = await api.request("POST /tokens", { json: body });
    const { token, info } = (await created.json()) as { token: string; info: { tenant: string } };
    expect(info.tenant).toBe("team");
    const login = await api.request("POST /login", { json: { token } });
    expect(await login.json()).toMatchObject({ tenant: "team" });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    for (const headers of [{ authorization: `Bearer ${token}` }, { cookie }]) {
      const response = await api.daemon.fetch(
        new Request("http://localhost/sessions?wait=10000", {
          method: "POST",
          headers: { "content-type": "application/json", host: "localhost", ...headers },
          body: JSON.stringify({ cwd: api.root }),
        }),
      );
      expect(response.status).toBe(202);
    }
    const { data } = (await (await api.request("GET /tenants")).json()) as { data: Tenant[] };
    expect(data).toEqual([expect.objectContaining({ id: "team", active: 2, waiting: 0 })]);
  });
});
