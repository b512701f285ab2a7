// Any node of a fleet serves every session: two daemons on one Postgres.
import { TestLocations } from "@codexkit/store/testing";
import { expect, test } from "vitest";
import { splitKey } from "../src/api/route.ts";
import { routes } from "../src/api/routes/index.ts";
import type { Approval } from "../src/api/inbox.ts";
import type { SessionEvent } from "../src/api/event.ts";
import type { StreamFrame } from "../src/api/stream.ts";
import { DaemonClient } from "../src/client/client.ts";
import { openDatabase } from "../src/database.ts";
import { assertGapless, NEW_APPROVAL, useDatabases } from "./database-fixture.ts";
import { codeOf, type FleetNode, startFleet, startNode, type TestFleet } from "./fleet-fixture.ts";
import { takeUntil } from "./take-until.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

const databases = useDatabases("postgres");

/** A client of another node with the token of the first one, as behind a load balancer. */
function clientOf({ url }: FleetNode, { api }: FleetNode): DaemonClient {
  return new DaemonClient({ url, token: api.token });
}

const isTurnEnd = (event: SessionEvent): boolean => event.type === "turn.completed";

async function openApproval({ b }: TestFleet, sessionId: string): Promise<Approval> {
  const { approval } = await b.api.database.inbox.open(b.api.runner.owner(sessionId), NEW_APPROVAL);
  return b.client.request("GET /inbox/{approvalId}", { params: { approvalId: approval.id } });
}

test("a node that does not own a session accepts commands for it, waits for them and streams its events", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  const stop = new AbortController();
  const reading = takeUntil(a.client.sessionEvents(session.id, { signal: stop.signal }), isTurnEnd);
  const sent = await a.client.send(session.id, "hello", { wait: 20_000 });
  expect(sent).toMatchObject({ state: "done", result: { turnId: "turn-1" } });
  const through = await reading;
  assertGapless(through);
  const direct = await takeUntil(b.client.sessionEvents(session.id, { signal: stop.signal }), isTurnEnd);
  expect(through).toEqual(direct);
  // A cursor from one node is valid on the other.
  const middle = through[2]?.seq ?? 0;
  const rest = await takeUntil(
    clientOf(b, a).sessionEvents(session.id, { after: middle, signal: stop.signal }),
    isTurnEnd,
  );
  expect(rest).toEqual(through.slice(3));
  stop.abort();
});

test("the multiplexed stream of one node continues on the other with its cursor", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  const events: SessionEvent[] = [];
  const read = async (
    client: DaemonClient,
    text: string,
    options: { watch: Record<string, number | null>; cursor?: string },
  ): Promise<string | undefined> => {
    const stop = new AbortController();
    const stream = client.events({ ...options, signal: stop.signal });
    const isEnd = (frame: StreamFrame): boolean => {
      if (frame.type !== "event") return false;
      events.push(frame.event);
      return isTurnEnd(frame.event);
    };
    const reading = takeUntil(stream, isEnd);
    await client.send(session.id, text);
    await reading;
    stop.abort();
    return stream.cursor;
  };
  const cursor = await read(a.client, "first", { watch: { [session.id]: 0 } });
  expect(cursor).toBeDefined();
  await read(clientOf(b, a), "second", {
    watch: { [session.id]: null },
    ...(cursor !== undefined && { cursor }),
  });
  assertGapless(events);
  expect(events.filter(isTurnEnd)).toHaveLength(2);
});

test("an approval is answered through any node, once", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  const approval = await openApproval(fleet, session.id);
  const waiting = b.api.database.inbox.waitForAnswer(approval.id);
  const { data } = await a.client.request("GET /inbox", { query: { state: "open" } });
  expect(data.map(({ id }) => id)).toEqual([approval.id]);
  const codes = await Promise.all([
    codeOf(a.client.answer(approval.id, { type: "decision", offer: "accept" })),
    codeOf(b.client.answer(approval.id, { type: "decision", offer: "decline" })),
  ]);
  expect(new Set(codes)).toEqual(new Set(["already_answered", undefined]));
  const { answer } = await waiting;
  expect(JSON.parse(answer ?? "")).toMatchObject({ offer: codes[0] === undefined ? "accept" : "decline" });
});

test("an idempotency key is valid on all nodes, for commands and for new sessions", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const other = clientOf(b, a);
  const options = { idempotencyKey: "create-once", wait: 20_000 };
  const created = await a.client.createSession({ cwd: a.api.root }, options);
  // The folder is outside the roots of `b`, and the nodes may have different defaults.
  const repeated = await other.createSession({ cwd: a.api.root }, options);
  expect(repeated.session.id).toBe(created.session.id);
  expect(await codeOf(other.createSession({ cwd: a.api.root, name: "another" }, options))).toBe("key_reused");
  const { id } = created.session;
  const sent = await Promise.all(
    [a.client, other, a.client, other].map(async (client) =>
      client.send(id, "once", { idempotencyKey: "send-once", wait: 20_000 }),
    ),
  );
  expect(new Set(sent.map((command) => command.id)).size).toBe(1);
  expect(await codeOf(other.send(id, "twice", { idempotencyKey: "send-once" }))).toBe("key_reused");
});

test("a login is valid on all nodes, and a logout ends its streams on all of them", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const login = await fetch(`${a.url}/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: a.api.token }),
  });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const stream = await fetch(`${b.url}/events`, { headers: { cookie } });
  expect(stream.status).toBe(200);
  expect((await fetch(`${a.url}/logout`, { method: "POST", headers: { cookie } })).status).toBe(204);
  await stream.text();
  expect((await fetch(`${b.url}/whoami`, { headers: { cookie } })).status).toBe(401);
});

test("a draining node accepts commands for the other nodes, and a draining single daemon refuses them", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  await a.api.daemon.drain(0);
  const kept = await fetch(`${a.url}/whoami`, { headers: { authorization: `Bearer ${a.api.token}` } });
  expect([kept.status, kept.headers.get("connection")]).toEqual([200, "close"]);
  expect((await fetch(`${a.url}/ready`)).status).toBe(503);
  expect(await a.client.send(session.id, "hello", { wait: 20_000 })).toMatchObject({ state: "done" });
  expect(await codeOf(a.client.createSession({ cwd: a.api.root }))).toBe("draining");
  await b.api.daemon.drain(0);
  await b.api.database.nodes.renew(b.nodeId, { state: "draining" });
  expect(await codeOf(a.client.send(session.id, "hello"))).toBe("draining");
});

test("a daemon that closes finishes waiting requests, and ends streams so that clients continue on another node", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  // No node executes the command, so the request waits until the daemon closes.
  await b.api.runner.drain();
  const other = clientOf(a, b);
  const { id } = await other.send(session.id, "later");
  const waiting = a.client.request("GET /sessions/{sessionId}/commands/{commandId}", {
    params: { sessionId: session.id, commandId: id },
    query: { wait: 60_000 },
  });
  const streams = await fetch(`${a.url}/sessions/${session.id}/events`, {
    headers: { authorization: `Bearer ${a.api.token}`, accept: "text/event-stream" },
  });
  const closing = a.api.daemon.close({ drainMs: 0 });
  expect(await waiting).toMatchObject({ id, state: "accepted" });
  await streams.text();
  await closing;
  await expect(fetch(`${a.url}/health`)).rejects.toThrow("fetch failed");
});

test("a tenant's limit of waiting sessions holds for concurrent requests to two nodes", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  await a.client.request("PUT /tenants/{tenantId}", {
    params: { tenantId: "team" },
    body: { maxWaiting: 3 },
  });
  const { token } = await a.client.request("POST /tokens", {
    body: { name: "team", scopes: ["read", "write"], tenant: "team" },
  });
  // No node claims the sessions.
  await a.api.runner.drain();
  await b.api.runner.drain();
  const create = async ({ url, api }: FleetNode): Promise<Response> =>
    fetch(`${url}/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ cwd: "/work", environment: { url: "ws://127.0.0.1:1" }, name: api.root }),
    });
  const third = await startNode("c", a.api.database.location);
  await using _ = third;
  await third.api.runner.drain();
  await markUp(third);
  const responses = await Promise.all(
    Array.from({ length: 12 }, async (_each, index) => create(index % 2 ? a : b)),
  );
  const statuses = responses.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(3);
  const refused = responses.find(({ status }) => status === 429);
  expect([refused?.headers.get("retry-after"), await refused?.json()]).toEqual([
    "5",
    expect.objectContaining({ type: "too_many_waiting" }),
  ]);
  const { data } = await a.client.request("GET /tenants");
  expect(data).toMatchObject([{ id: "team", active: 0, waiting: 3 }]);
  const metrics = await (await a.api.request("GET /metrics")).text();
  expect(metrics).toContain("codexkit_sessions_ready 3\n");
  expect(metrics).toMatch(/^codexkit_nodes\{state="up"\} \d$/m);
});

/** Marks the row of a drained node as up again. Its runner stays stopped, so that it claims no session. */
async function markUp({ api, nodeId }: FleetNode): Promise<void> {
  await api.database.nodes.renew(nodeId, { state: "up" });
}

test("every route responds with store_unavailable and a retry time while the store is down", async () => {
  await using locations = await TestLocations.start("postgres");
  const location = await locations.create();
  const options = { limits: { connectMs: 500 } };
  await using withTokens = await startTestDaemon(await openDatabase(location, options));
  await using open = await startTestDaemon(await openDatabase(location, options), {
    auth: "none",
    nodeName: "open",
  });
  await locations.postgres.kill();
  const ask = async (api: TestDaemon, key: string): Promise<string> => {
    const { method, path } = splitKey(key);
    const response = await api.request(`${method} ${path.replaceAll(/\{\w+\}/g, "some-id")}`, {
      ...(method !== "GET" && method !== "DELETE" && { json: bodyFor(key) }),
    });
    await response.body?.cancel();
    return `${response.status}, again after ${response.headers.get("retry-after")} s`;
  };
  const keys = Object.keys(routes);
  const isDown = "503, again after 5 s";
  const answers = await Promise.all(
    keys.map(async (key) => ({ key, tokens: await ask(withTokens, key), none: await ask(open, key) })),
  );
  expect(answers.filter(({ tokens }) => tokens !== isDown).map(({ key }) => key)).toEqual([
    "GET /health",
    "GET /openapi.json",
  ]);
  // Without tokens, only the handlers use the store. The responses of some routes don't depend on it.
  expect(answers.filter(({ none }) => none !== isDown && none.startsWith("5"))).toEqual([]);
  expect(answers.filter(({ none }) => none === isDown).length).toBeGreaterThan(50);
  await locations.postgres.restart();
});

function bodyFor(key: string): unknown {
  if (key === "POST /sessions") return { cwd: "/work", environment: { url: "ws://127.0.0.1:1" } };
  if (key.endsWith("/messages")) return { input: "hello" };
  if (key === "POST /login") return { token: "x" };
  if (key === "POST /tokens") return { name: "x", scopes: ["read"] };
  return {};
}
