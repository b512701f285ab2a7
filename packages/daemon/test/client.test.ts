import { STORE_KINDS } from "@codexkit/store/testing";
import { createServer, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../src/api/event.ts";
import type { StreamFrame } from "../src/api/stream.ts";
import { DaemonClient } from "../src/client/client.ts";
import { assertGapless, delta, useDatabases, warning } from "./database-fixture.ts";
import { takeUntil } from "./take-until.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

const isFinished =
  (key: string) =>
  (event: SessionEvent): boolean =>
    event.type === "command.finished" && event.key === key;

/** Forwards connections to a port, and breaks each after a number of response bytes. */
async function startCuttingProxy(port: number, maxBytes: number) {
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server = createServer();
  server.on("connection", (client) => {
    const upstream = connect(port, "127.0.0.1");
    let bytes = 0;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) return void client.write(chunk);
      cuts += 1;
      upstream.destroy();
      client.write(chunk, () => client.destroy());
    });
    client.on("close", () => upstream.destroy());
  });
  // The raw connection is forwarded, not parsed.
  server.removeAllListeners("request");
  return { server, sockets, cuts: () => cuts };
}

describe.each(STORE_KINDS)("the client on %s", (kind) => {
  const databases = useDatabases(kind);
  const start = async (options: Parameters<typeof startTestDaemon>[1] = {}): Promise<TestDaemon> =>
    startTestDaemon(await databases.open(), options);

  test("creates a session, sends a message and reads its events", async () => {
    await using api = await start();
    const client = await api.listen();
    const { session } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
    expect(session.phase).toBe("idle");
    const command = await client.send(session.id, "hi", { idempotencyKey: "first" });
    expect(command.kind).toBe("message");
    const events = await takeUntil(client.sessionEvents(session.id), isFinished("first"));
    assertGapless(events);
    expect(events[0]).toMatchObject({ seq: 1, type: "session.created" });
    const text = events.map((event) => (event.type === "item.delta" ? event.delta : "")).join("");
    expect(text).toBe("hi");
    const done = await client.request("GET /sessions/{sessionId}/commands/{commandId}", {
      params: { sessionId: session.id, commandId: command.id },
    });
    expect(done).toMatchObject({ state: "done", result: { turnId: "turn-1" } });
    await expect(client.send("none", "hi")).rejects.toMatchObject({ code: "session_not_found", status: 404 });
  });

  test("calls operations without arguments, and operations with a text response", async () => {
    await using api = await start();
    const client = await api.listen();
    expect(await client.request("GET /sessions")).toMatchObject({ data: [] });
    expect(await client.request("GET /metrics")).toMatch(/^# HELP /);
  });

  test("reads the same events as pages", async () => {
    await using api = await start();
    const client = await api.listen();
    const { session } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
    await client.send(session.id, "some text", { wait: 10_000, idempotencyKey: "k" });
    const streamed = await takeUntil(client.sessionEvents(session.id), isFinished("k"));
    const paged: SessionEvent[] = [];
    for (let after = 0; ;) {
      const page = await client.request("GET /sessions/{sessionId}/events", {
        params: { sessionId: session.id },
        query: { after, limit: 3 },
      });
      paged.push(...page.events);
      after = page.next;
      if (page.events.length === 0) break;
    }
    expect(paged).toEqual(streamed);
  });

  test("neither repeats nor skips events when 20 connections are lost", async () => {
    await using api = await start();
    const direct = await api.listen();
    const { session } = await direct.createSession({ cwd: api.root }, { wait: 10_000 });
    const proxy = await startCuttingProxy(Number(new URL(api.daemon.url ?? "").port), 1500);
    await new Promise<void>((resolve) => void proxy.server.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.server.address() as { port: number };
    const client = new DaemonClient({ url: `http://127.0.0.1:${port}`, token: api.token });
    const reading = takeUntil(client.sessionEvents(session.id, { maxDelayMs: 5 }), isFinished("last"));
    const watching = takeUntil(
      client.events({ watch: { [session.id]: 0 }, maxDelayMs: 5 }),
      (frame) => frame.type === "event" && isFinished("last")(frame.event),
    );
    for (let count = 0; count < 30; count += 1) await direct.send(session.id, "x".repeat(100));
    await direct.send(session.id, "end", { idempotencyKey: "last" });
    const events = await reading;
    assertGapless(events);
    expect(events.filter(({ type }) => type === "turn.completed")).toHaveLength(31);
    const watched = (await watching).flatMap((frame) => (frame.type === "event" ? [frame.event] : []));
    expect(watched).toEqual(events);
    expect(proxy.cuts()).toBeGreaterThanOrEqual(20);
    for (const socket of proxy.sockets) socket.destroy();
    proxy.server.close();
  });

  test("a stalled reader receives every event later, and needs little memory in the meantime", async () => {
    await using api = await start();
    const client = await api.listen();
    const { session } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
    const owner = api.runner.owner(session.id);
    const response = await new Promise<IncomingMessage>((resolve) => {
      const headers = { accept: "text/event-stream", authorization: `Bearer ${api.token}` };
      request(`${api.daemon.url}/sessions/${session.id}/events`, { headers }, resolve).end();
    });
    response.pause();
    const total = 40_000;
    let offset = 0;
    for (let count = 0; count < total; count += 1000) {
      const batch = Array.from({ length: 1000 }, () => delta("0123456789", (offset += 10) - 10));
      await api.database.journal.append(owner, batch);
    }
    await api.database.journal.append(owner, [warning("end")]);
    let seen = 0;
    let text = "";
    for await (const chunk of response) {
      text += String(chunk);
      const end = text.lastIndexOf("\n\n") + 2;
      const messages = text.slice(0, end).match(/^data: .*$/gm) ?? [];
      text = text.slice(end);
      for (const message of messages) {
        const event = JSON.parse(message.slice(6)) as SessionEvent;
        seen += 1;
        expect(event.seq).toBe(seen);
      }
      if (messages.some((message) => message.includes('"end"'))) break;
    }
    expect(seen).toBeGreaterThan(total);
  });

  test("old events are merged and removed, and readers receive a gap", async () => {
    await using api = await start({ retention: { maxAgeMs: 0, everyMs: 1 } });
    const client = await api.listen();
    const { session } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
    await client.send(session.id, "text", { wait: 10_000 });
    const events = client.sessionEvents(session.id);
    // Retention keeps the newest event; until it has run, the first one is still there.
    for (;;) {
      const { gap } = await client.request("GET /sessions/{sessionId}/events", {
        params: { sessionId: session.id },
      });
      if (gap) break;
    }
    const first = (await events.next()).value as SessionEvent;
    expect(first).toMatchObject({ type: "gap", from: 1, reason: "retention" });
    expect(first.seq).toBeGreaterThan(1);
    await events.return(undefined);
  });

  test("ends the stream of a deleted session", async () => {
    await using api = await start();
    const client = await api.listen();
    const { session } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
    const reading = (async () => {
      const types: string[] = [];
      for await (const event of client.sessionEvents(session.id)) types.push(event.type);
      return types;
    })();
    await client.request("DELETE /sessions/{sessionId}", { params: { sessionId: session.id } });
    expect((await reading).at(-1)).toBe("session.deleted");
  });

  test("one stream has summaries of all sessions, the inbox, and the events of watched sessions", async () => {
    await using api = await start();
    const client = await api.listen();
    const { session: one } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
    const { session: two } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
    const frames: StreamFrame[] = [];
    const stream = client.events({ watch: { [one.id]: one.lastSeq, missing: null } });
    const reading = (async () => {
      for await (const frame of stream) {
        frames.push(frame);
        if (frame.type === "synced") {
          await client.send(one.id, "first");
          await client.request("PUT /sessions/{sessionId}/name", {
            params: { sessionId: two.id },
            body: { name: "Two" },
          });
          await api.database.inbox.open(api.runner.owner(two.id), {
            threadId: "thread",
            requestId: 1,
            kind: "userInput",
            fingerprint: "f",
            request: { kind: "userInput", questions: [], isBlocking: true },
            offers: [],
          });
        }
        const types = new Set(frames.map((seen) => seen.type));
        const isRenamed = frames.some((seen) => seen.type === "session" && seen.session.name === "Two");
        const isDone = frames.some((seen) => seen.type === "event" && seen.event.type === "turn.completed");
        if (types.has("approval") && isRenamed && isDone) return;
      }
    })();
    await reading;
    expect(frames.find(({ type }) => type === "synced")).toEqual({ type: "synced", openApprovals: [] });
    expect(frames).toContainEqual({ type: "unavailable", sessionId: "missing" });
    const events = frames.flatMap((frame) => (frame.type === "event" ? [frame] : []));
    expect(new Set(events.map(({ sessionId }) => sessionId))).toEqual(new Set([one.id]));
    assertGapless(
      events.map(({ event }) => event),
      one.lastSeq,
    );

    // A new stream with the cursor receives the changes since then, and the open approval.
    await client.send(one.id, "second", { wait: 10_000 });
    const later = client.events({
      ...(stream.cursor !== undefined && { cursor: stream.cursor }),
      watch: { [one.id]: null },
    });
    const rest = await takeUntil(
      later,
      (frame) => frame.type === "event" && frame.event.type === "turn.completed",
    );
    expect(rest.find(({ type }) => type === "synced")).toMatchObject({ openApprovals: [expect.any(String)] });
    assertGapless(
      [...events, ...rest.flatMap((frame) => (frame.type === "event" ? [frame] : []))].map(
        ({ event }) => event,
      ),
      one.lastSeq,
    );
    expect(rest.some((frame) => frame.type === "session" && frame.session.preview === "second")).toBe(true);
  });

  test("a change of the watched sessions neither repeats nor skips events", async () => {
    await using api = await start();
    const client = await api.listen();
    const { session: one } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
    const { session: two } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
    const stream = client.events({ watch: { [one.id]: 0 }, maxDelayMs: 1 });
    const seen: Record<string, SessionEvent[]> = { [one.id]: [], [two.id]: [] };
    for await (const frame of stream) {
      if (frame.type !== "event") continue;
      seen[frame.sessionId]?.push(frame.event);
      const { event } = frame;
      if (frame.sessionId === one.id && event.seq === 2) {
        stream.setWatch({ [one.id]: 0, [two.id]: 0 });
        await client.send(one.id, "one");
        await client.send(two.id, "two", { idempotencyKey: "two" });
      }
      const isOver = [one.id, two.id].every((id) => seen[id]?.some(({ type }) => type === "turn.completed"));
      if (isOver) break;
    }
    assertGapless(seen[one.id] ?? []);
    assertGapless(seen[two.id] ?? []);
  });
});
