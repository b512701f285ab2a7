import { gate, run, say, type Script, usage, waitFor } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../src/api/event.ts";
import { DaemonClient } from "../src/client/client.ts";
import { createDaemon } from "../src/create-daemon.ts";
import { assertGapless, useDatabases } from "./database-fixture.ts";
import { createDaemonHome } from "./start-daemon.ts";

const echo: Script = ({ lastUserText }) => [
  say(`received: ${lastUserText}`),
  usage({ input: 10, output: 5 }),
];

async function eventsUntil(
  client: DaemonClient,
  sessionId: string,
  isLast: (event: SessionEvent) => boolean,
  after = 0,
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of client.sessionEvents(sessionId, { after, signal: AbortSignal.timeout(25_000) })) {
    events.push(event);
    if (isLast(event)) return events;
  }
  throw new Error(`The event was not received. Received: ${events.map(({ type }) => type).join(", ")}`);
}

const isTurnEnd = ({ type }: SessionEvent): boolean => /^turn\.(?:completed|failed|interrupted)$/.test(type);

describe.each(STORE_KINDS)("a daemon with the real codex on %s", (store) => {
  const databases = useDatabases(store);
  const home = async (model: Script) =>
    createDaemonHome(model, { kind: store, locations: databases.locations });

  test("runs a turn, and a second start of the daemon continues the session", async () => {
    await using stage = await home(echo);
    let sessionId: string;
    let last: number;
    {
      await using started = await stage.start();
      const { client } = started;
      const created = await client.createSession({ cwd: stage.folders.workspace }, { wait: 20_000 });
      expect(created.command).toMatchObject({ state: "done", problem: null });
      sessionId = created.session.id;
      const sent = await client.send(sessionId, "hello", { wait: 20_000 });
      expect(sent.problem).toBeNull();
      const events = await eventsUntil(client, sessionId, isTurnEnd);
      assertGapless(events);
      const text = events.map((event) => (event.type === "item.delta" ? event.delta : "")).join("");
      expect(text).toBe("received: hello");
      const items = await client.request("GET /sessions/{sessionId}/items", { params: { sessionId } });
      expect(items.data.map((item) => item.kind)).toEqual(["agentMessage", "userMessage"]);
      const session = await client.request("GET /sessions/{sessionId}", { params: { sessionId } });
      expect(session).toMatchObject({
        phase: "idle",
        usage: { totalTokens: 15 },
        preview: "received: hello",
      });
      last = events.at(-1)?.seq ?? 0;
    }
    await using started = await stage.start();
    const { client } = started;
    await client.send(sessionId, "again", { wait: 20_000 });
    const events = await eventsUntil(client, sessionId, isTurnEnd, last);
    assertGapless(events, last);
    const turns = await client.request("GET /sessions/{sessionId}/turns", { params: { sessionId } });
    expect(turns.data.map(({ status, title }) => [status, title])).toEqual([
      ["completed", "again"],
      ["completed", "hello"],
    ]);
    expect(stage.logs.filter((line) => line.includes("first token"))).toHaveLength(1);
  });

  test("accepts the first of two answers to an approval, and continues the turn", async () => {
    const script: Script = ({ outputs }) =>
      outputs.length === 0 ? run("touch made", { callId: "call", escalate: "needs to write" }) : say("done");
    await using stage = await home(script);
    await using started = await stage.start();
    const { client, daemon, token } = started;
    const { session } = await client.createSession(
      { cwd: stage.folders.workspace, permissionMode: "read-only" },
      { wait: 20_000 },
    );
    await client.send(session.id, "make it");
    await eventsUntil(client, session.id, ({ type }) => type === "inbox.opened");
    const inbox = await client.request("GET /inbox", { query: { state: "open" } });
    const [approval] = inbox.data;
    if (!approval) throw new Error("The inbox is empty.");
    expect(approval).toMatchObject({
      sessionId: session.id,
      kind: "command",
      verdict: { segments: [expect.objectContaining({ command: "touch made" })] },
    });
    const other = new DaemonClient({ url: daemon.url ?? "", token });
    const { token: second } = await daemon.tokens.create({ name: "b", scopes: ["approve"], by: "test" });
    const accept = approval.offers.find(({ accepts }) => accepts)?.id ?? "";
    const decline = approval.offers.find(({ accepts }) => !accepts)?.id ?? "";
    const answers = await Promise.allSettled([
      other.answer(approval.id, { type: "decision", offer: accept }),
      new DaemonClient({ url: daemon.url ?? "", token: second }).answer(approval.id, {
        type: "decision",
        offer: decline,
      }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const loser = answers.find((answer) => answer.status === "rejected");
    expect(loser?.reason).toMatchObject({ code: "already_answered", status: 409 });
    await eventsUntil(client, session.id, ({ type }) => type === "turn.completed");
    const isAccepted = answers[0].status === "fulfilled";
    expect(existsSync(join(stage.folders.workspace, "made"))).toBe(isAccepted);
    const verdict = await client.request("POST /sessions/{sessionId}/policy/test", {
      params: { sessionId: session.id },
      body: { command: "sudo id" },
    });
    expect(verdict).toMatchObject({ decision: "deny", rule: expect.any(String), reason: expect.any(String) });
  });

  test("interrupts, queues, forks and deletes", async () => {
    const open = gate();
    const script: Script = ({ lastUserText }) =>
      lastUserText === "hold" ? say(["half ", waitFor(open), "done"]) : say(`received: ${lastUserText}`);
    await using stage = await home(script);
    await using started = await stage.start();
    const { client } = started;
    const { session } = await client.createSession({ cwd: stage.folders.workspace }, { wait: 20_000 });
    const params = { sessionId: session.id };
    await client.send(session.id, "hold", { mode: "start" });
    await eventsUntil(client, session.id, ({ type }) => type === "item.delta");
    const refused = await client.send(session.id, "now", { mode: "start", wait: 20_000 });
    expect(refused).toMatchObject({ state: "failed", problem: { type: "turn_running", status: 409 } });
    await client.send(session.id, "later");
    const queued = await client.request("GET /sessions/{sessionId}/commands", { params });
    expect(queued.data.map((command) => command.kind)).toContain("message");
    const interrupted = await client.request("POST /sessions/{sessionId}/interrupt", {
      params,
      query: { wait: 20_000 },
    });
    expect(interrupted.state).toBe("done");
    const events = await eventsUntil(client, session.id, ({ type }) => type === "turn.completed");
    expect(events.filter(isTurnEnd).map(({ type }) => type)).toEqual(["turn.interrupted", "turn.completed"]);
    const fork = await client.request("POST /sessions/{sessionId}/fork", {
      params,
      body: { name: "copy" },
      query: { wait: 20_000 },
    });
    expect(fork.problem).toBeNull();
    const listed = await client.request("GET /sessions", { query: { search: "copy" } });
    expect(listed.data).toHaveLength(1);
    for (const { id } of [session, ...listed.data]) {
      const deleted = await client.request("DELETE /sessions/{sessionId}", {
        params: { sessionId: id },
        query: { wait: 20_000 },
      });
      expect(deleted.problem).toBeNull();
    }
    expect((await client.request("GET /sessions", {})).data).toEqual([]);
    open.open();
  });
});

describe("a daemon", () => {
  const databases = useDatabases("sqlite");
  const home = async () => createDaemonHome(echo, { kind: "sqlite", locations: databases.locations });

  test("serves models, account, credentials and its state", async () => {
    await using stage = await home();
    await using started = await stage.start();
    const { client } = started;
    expect((await client.request("GET /models", {})).data.length).toBeGreaterThan(0);
    expect(await client.request("GET /account", {})).toHaveProperty("requiresOpenaiAuth");
    expect(await client.request("GET /account/quotas", {})).toEqual({ data: [] });
    expect(await client.request("GET /credentials", {})).toMatchObject({ kind: "none", source: null });
    expect(await client.request("GET /ready", {})).toEqual({ ready: true, store: "ok", runner: "running" });
    expect(await client.request("GET /diagnostics", {})).toMatchObject({ store: { kind: "sqlite" } });
    const metrics = await fetch(`${started.daemon.url}/metrics`, {
      headers: { authorization: `Bearer ${started.token}` },
    });
    expect(await metrics.text()).toMatch(/^codexkit_app_servers \d+$/m);
  });

  test("keeps its first token in a file that only its owner can read", async () => {
    await using stage = await home();
    await using started = await stage.start();
    const file = join(stage.stateFolder, "token");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(stage.logs.join("")).toContain(file);
    expect(stage.logs.join("")).not.toContain(started.token);
  });

  test("refuses a state folder that another daemon uses", async () => {
    await using stage = await home();
    await using _started = await stage.start();
    await expect(createDaemon(stage.options)).rejects.toMatchObject({ code: "store_locked" });
  });

  test("refuses roots that don't exist", async () => {
    await using stage = await home();
    const roots = [join(stage.folders.root, "none")];
    await expect(createDaemon({ ...stage.options, roots })).rejects.toMatchObject({ code: "bad_options" });
  });

  test("can be started again after it was closed, and closes once", async () => {
    await using stage = await home();
    const { daemon } = await stage.start();
    await Promise.all([daemon.close(), daemon.close()]);
    await expect(fetch(`${daemon.url}/health`)).rejects.toThrow("fetch failed");
    await using again = await stage.start();
    expect(await again.client.request("GET /health", {})).toMatchObject({ status: "ok" });
  });
});
