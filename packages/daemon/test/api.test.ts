import { PostgresProxy, STORE_KINDS, TestLocations } from "@codexkit/store/testing";
import { randomUUID } from "node:crypto";
import { symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { Problem } from "../src/api/problem.ts";
import type { Command, Session } from "../src/api/session.ts";
import { openDatabase } from "../src/database.ts";
import { HTTP_LIMITS } from "../src/limits.ts";
import { NEW_APPROVAL, useDatabases } from "./database-fixture.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = (await response.json()) as Problem;
  expect(problem.status).toBe(response.status);
  return problem;
}

async function createSession(api: TestDaemon, more: object = {}): Promise<Session> {
  const response = await api.request("POST /sessions?wait=10000", { json: { cwd: api.root, ...more } });
  expect(response.status).toBe(202);
  return ((await response.json()) as { session: Session }).session;
}

describe.each(STORE_KINDS)("the API on %s", (kind) => {
  const databases = useDatabases(kind);
  const start = async (options: Parameters<typeof startTestDaemon>[1] = {}): Promise<TestDaemon> =>
    startTestDaemon(await databases.open(), options);

  test("creates a session and waits for its thread", async () => {
    await using api = await start();
    const session = await createSession(api, { name: "First", effort: "low", environment: undefined });
    expect(session).toMatchObject({
      name: "First",
      cwd: api.root,
      phase: "idle",
      threadId: `thread-${session.id}`,
      settings: {
        permissionMode: "workspace-write",
        agentMode: "build",
        approvalPolicy: "on-request",
        effort: "low",
      },
    });
    const listed = (await (await api.request("GET /sessions?search=fIrS")).json()) as { data: Session[] };
    expect(listed.data.map(({ id }) => id)).toEqual([session.id]);
  });

  test("never serves the secrets of a session", async () => {
    await using api = await start();
    const secrets = {
      environment: { url: "wss://sandbox.example", token: "secret-1" },
      mcpServers: { files: { command: "mcp", env: { KEY: "secret-2" } } },
    };
    const created = await api.request("POST /sessions?wait=10000", { json: { cwd: "/remote", ...secrets } });
    const { session } = (await created.clone().json()) as { session: Session };
    const texts = [
      await created.text(),
      await (await api.request(`GET /sessions/${session.id}`)).text(),
      await (await api.request("GET /sessions")).text(),
      await (await api.request(`GET /sessions/${session.id}/events`)).text(),
      await (await api.request("GET /diagnostics")).text(),
      api.logs.join(""),
    ];
    expect(texts.join("")).not.toMatch(/secret-\d/);
  });

  test("carries out a command once per idempotency key, also concurrently", async () => {
    await using api = await start();
    const { id } = await createSession(api);
    const send = async (text: string, key: string): Promise<Response> =>
      api.request(`POST /sessions/${id}/messages?wait=10000`, {
        json: { input: text },
        headers: { "idempotency-key": key },
      });
    const key = randomUUID();
    const commands = await Promise.all(
      Array.from({ length: 5 }, async () => (await (await send("hello", key)).json()) as Command),
    );
    expect(new Set(commands.map((command) => command.id)).size).toBe(1);
    expect(commands[0]).toMatchObject({ state: "done", kind: "message", key, result: { turnId: "turn-1" } });
    expect(api.runner.status.turns.completed).toBe(1);
    const other = await problemOf(await send("other", key));
    expect(other).toMatchObject({ type: "key_reused", status: 409 });

    const create = async (): Promise<{ session: Session }> => {
      const json = { cwd: api.root };
      const response = await api.request("POST /sessions", {
        json,
        headers: { "idempotency-key": "create-1" },
      });
      return (await response.json()) as { session: Session };
    };
    const [first, second] = await Promise.all([create(), create()]);
    expect(first.session.id).toBe(second.session.id);
  });

  test("serves items, bodies, turns and the queue", async () => {
    await using api = await start();
    const { id } = await createSession(api);
    const text = "abc".repeat(10_000);
    for (const input of ["one", text]) {
      await api.request(`POST /sessions/${id}/messages?wait=20000`, { json: { input } });
    }
    const get = async (path: string): Promise<Record<string, never>> =>
      (await (await api.request(`GET /sessions/${id}${path}`)).json()) as Record<string, never>;
    const page = (await get("/items?limit=1")) as unknown as {
      data: { id: string; bodyLength: number }[];
      next: number;
    };
    expect(page.data.map((item) => item.id)).toEqual(["item-turn-2"]);
    const older = (await get(`/items?limit=1&before=${page.next}`)) as unknown as typeof page;
    expect(older.data.map((item) => item.id)).toEqual(["item-turn-1"]);
    let body = "";
    for (let offset: number | null = 0; offset !== null;) {
      const part = (await get(`/items/item-turn-2/body?limit=7000&offset=${offset}`)) as unknown as {
        text: string;
        next: number | null;
      };
      body += part.text;
      offset = part.next;
    }
    expect(body).toBe(text);
    const ofTurn = (await get("/items?turnId=turn-1")) as unknown as typeof page;
    expect(ofTurn.data.map((item) => item.id)).toEqual(["item-turn-1"]);
    const turns = (await get("/turns")) as unknown as { data: { id: string; status: string }[] };
    expect(turns.data.map((turn) => [turn.id, turn.status])).toEqual([
      ["turn-2", "completed"],
      ["turn-1", "completed"],
    ]);
    expect(await get("/commands")).toEqual({ data: [] });
    expect(await get("/plan")).toEqual({ turnId: null, plan: [], explanation: null });
    expect(await get("/diff")).toEqual({ turnId: null, diff: "" });
    expect((await problemOf(await api.request(`GET /sessions/${id}/items/none/body`))).type).toBe(
      "not_found",
    );
  });

  test("lists all unfinished commands in the order in which they will run", async () => {
    await using api = await start();
    const { id } = await createSession(api);
    await api.runner.drain();
    const submitted: string[] = [];
    for (let index = 0; index < 120; index++) {
      const body = { input: `${index}`, mode: "queue" } as const;
      const { commands } = api.database;
      const { command } = await commands.submit({
        sessionId: id,
        key: `${index}`,
        kind: "message",
        body,
        by: "me",
      });
      submitted.push(command.id);
    }
    const listed = (await (await api.request(`GET /sessions/${id}/commands`)).json()) as { data: Command[] };
    expect(listed.data.map((command) => command.id)).toEqual(submitted);
  });

  test("stores text with characters that Postgres can't store", async () => {
    await using api = await start();
    const { id } = await createSession(api);
    const input = "a\u0000b \ud800";
    const sent = await api.request(`POST /sessions/${id}/messages?wait=10000`, { json: { input } });
    expect(await sent.json()).toMatchObject({ state: "done" });
    expect(await (await api.request(`GET /sessions/${id}`)).json()).toMatchObject({ preview: "ab \ufffd" });
    const body = await api.request(`GET /sessions/${id}/items/item-turn-1/body`);
    expect(await body.json()).toMatchObject({ text: input });
    const other = await api.request(`GET /sessions/${id}/items/item-turn-1/body?path=/type`);
    expect(await other.json()).toMatchObject({ text: "agentMessage", next: null });
  });

  test("keeps the last summary of a deleted session", async () => {
    await using api = await start();
    const { id } = await createSession(api);
    expect((await api.request(`DELETE /sessions/${id}?wait=10000`)).status).toBe(202);
    for (const operation of [
      `GET /sessions/${id}`,
      `GET /sessions/${id}/items`,
      `POST /sessions/${id}/compact`,
    ]) {
      expect(await problemOf(await api.request(operation))).toMatchObject({
        type: "session_deleted",
        status: 410,
      });
    }
    expect(((await (await api.request("GET /sessions")).json()) as { data: [] }).data).toEqual([]);
  });

  test("accepts the first answer to an approval, and names its author to the second client", async () => {
    await using api = await start();
    const owner = api.runner.owner((await createSession(api)).id);
    const { approval } = await api.database.inbox.open(owner, NEW_APPROVAL);
    const path = `POST /inbox/${approval.id}/answer`;
    const wrong = await problemOf(
      await api.request(path, { json: { type: "decision", offer: "acceptAlways" } }),
    );
    expect(wrong).toMatchObject({
      type: "unprocessable",
      detail: expect.stringContaining("accept, decline"),
    });
    const others = await api.createToken(["approve"]);
    const answers = await Promise.all([
      api.request(path, { json: { type: "decision", offer: "accept" } }),
      api.request(path, {
        json: { type: "decision", offer: "decline" },
        headers: { authorization: `Bearer ${others}` },
      }),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    const loser = await problemOf(answers.find(({ status }) => status === 409) as Response);
    const stored = (await (await api.request(`GET /inbox/${approval.id}`)).json()) as { answeredBy: string };
    expect(loser.type).toBe("already_answered");
    expect(JSON.stringify(loser)).toContain(stored.answeredBy);
    const open = (await (await api.request("GET /inbox?state=open")).json()) as { data: [] };
    expect(open.data).toEqual([]);
  });

  test("pages through sessions without repetition", async () => {
    await using api = await start();
    const ids = new Set<string>();
    for (let count = 0; count < 5; count += 1) ids.add((await createSession(api)).id);
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = (await (await api.request(`GET /sessions?limit=2${cursor}`)).json()) as {
        data: Session[];
        next: string | null;
      };
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next === null ? "" : `&cursor=${encodeURIComponent(page.next)}`;
    } while (cursor !== "");
    expect(seen.toSorted()).toEqual([...ids].toSorted());
    const forged = ['[1e400,"a"]', '[1.5,"a"]', '[1,"\\u0000"]'].map((json) =>
      Buffer.from(json).toString("base64url"),
    );
    for (const invalid of ["nonsense", ...forged]) {
      const response = await api.request(`GET /sessions?cursor=${invalid}`);
      expect((await problemOf(response)).type).toBe("invalid_cursor");
    }
  });
});

describe("bad requests", () => {
  const databases = useDatabases("sqlite");
  const start = async (options: Parameters<typeof startTestDaemon>[1] = {}): Promise<TestDaemon> =>
    startTestDaemon(await databases.open(), options);
  const json = { "content-type": "application/json" };

  test.each<[string, string, RequestInit & { json?: unknown }, string]>([
    ["malformed JSON", "POST /sessions", { body: "{", headers: json }, "invalid_json"],
    [
      "another media type",
      "POST /sessions",
      { body: "cwd=/", headers: { "content-type": "text/plain" } },
      "unsupported_media_type",
    ],
    ["an unknown field", "POST /sessions", { json: { cwd: "/", colour: "red" } }, "bad_request"],
    ["a missing field", "POST /sessions", {}, "bad_request"],
    ["a wrong type", "POST /sessions", { json: { cwd: 7 } }, "bad_request"],
    ["a name with a NUL", "POST /sessions", { json: { cwd: "/", name: "a\u0000b" } }, "bad_request"],
    ["a relative folder", "POST /sessions", { json: { cwd: "work" } }, "path_not_allowed"],
    ["a folder outside the roots", "POST /sessions", { json: { cwd: "/etc" } }, "path_not_allowed"],
    [
      "a relative folder of an environment",
      "POST /sessions",
      { json: { cwd: "x", environment: { url: "ws://h" } } },
      "path_not_allowed",
    ],
    [
      "too many MCP servers",
      "POST /sessions",
      {
        json: {
          cwd: "/",
          mcpServers: Object.fromEntries(
            Array.from({ length: 65 }, (_, index) => [`server${index}`, { command: "true" }]),
          ),
        },
      },
      "bad_request",
    ],
    ["an unknown parameter", "GET /sessions?colour=red", {}, "bad_request"],
    ["a parameter where there is none", "GET /whoami?colour=red", {}, "bad_request"],
    ["a parameter that is no own property", "GET /sessions?__proto__=1", {}, "bad_request"],
    [
      "bytes that are not UTF-8",
      "POST /sessions",
      { body: new Uint8Array([0x22, 0xc3, 0x28, 0x22]), headers: json },
      "invalid_json",
    ],
    ["a parameter twice", "GET /sessions?limit=1&limit=2", {}, "bad_request"],
    ["a number out of range", "GET /sessions?limit=0", {}, "bad_request"],
    ["no number", "GET /sessions?limit=1e2", {}, "bad_request"],
    ["an unknown session", "GET /sessions/none", {}, "session_not_found"],
    ["a command for an unknown session", "POST /sessions/none/compact", {}, "session_not_found"],
    ["events of an unknown session", "GET /sessions/none/events", {}, "session_not_found"],
    ["an ID with a NUL", "GET /sessions/%00", {}, "bad_request"],
    [
      "an unknown approval",
      "POST /inbox/none/answer",
      { json: { type: "answers", answers: {} } },
      "approval_not_found",
    ],
    ["an unknown path", "GET /nothing", {}, "not_found"],
    ["another method", "PUT /sessions", {}, "method_not_allowed"],
    [
      "an idempotency key with spaces",
      "POST /sessions/none/compact",
      { headers: { "idempotency-key": "a b" } },
      "bad_request",
    ],
    [
      "a foreign cursor",
      "GET /events?cursor=abc",
      { headers: { accept: "text/event-stream" } },
      "invalid_cursor",
    ],
    ["an unknown token", "DELETE /tokens/none", {}, "not_found"],
  ])("%s", async (_, operation, init, type) => {
    await using api = await start();
    expect((await problemOf(await api.request(operation, init))).type).toBe(type);
  });

  test("names every invalid field", async () => {
    await using api = await start();
    const problem = await problemOf(
      await api.request("POST /sessions", { json: { cwd: 7, budget: { totalTokens: -1 } } }),
    );
    expect(problem.errors?.map(({ path }) => path)).toEqual(["body.cwd", "body.budget.totalTokens"]);
  });

  test("quotes only a part of a large request in its problem", async () => {
    await using api = await start();
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key ${index}`, 1]));
    for (const [operation, init] of [
      ["POST /sessions", { json: { cwd: "/", mcpServers: many } }],
      ["POST /sessions", { json: { cwd: "/", ...many } }],
      ["POST /sessions", { json: { ["x".repeat(100_000)]: 1 } }],
      [`GET /${"x".repeat(100_000)}`, {}],
      [`GET /sessions?${"x".repeat(100_000)}=1`, {}],
      [`GET /sessions?${"x".repeat(100_000)}=1&${"x".repeat(100_000)}=1`, {}],
    ] as const) {
      const text = await (await api.request(operation, init)).text();
      expect(text.length).toBeLessThan(30_000);
      expect(JSON.parse(text)).toMatchObject({ status: expect.any(Number) as number });
    }
  });

  test("that end because the client disconnects are not logged as errors", async () => {
    await using api = await start();
    const gone = new AbortController();
    const body = new ReadableStream({
      pull: (controller) => {
        gone.abort();
        controller.error(new Error("aborted"));
      },
    });
    const init = { body, duplex: "half", headers: json, signal: gone.signal } as RequestInit;
    await api.request("POST /sessions", init);
    expect(api.logs.filter((line) => line.includes("request failed"))).toEqual([]);
  });

  test("a body above the limit, with and without its length", async () => {
    await using api = await start({ limits: { bodyBytes: 100 } });
    const big = JSON.stringify({ cwd: "x".repeat(200) });
    const chunked = { body: new Blob([big]).stream(), duplex: "half", headers: json } as RequestInit;
    for (const init of [{ body: big, headers: { ...json, "content-length": String(big.length) } }, chunked]) {
      const problem = await problemOf(await api.request("POST /sessions", init));
      expect(problem).toMatchObject({ type: "body_too_large", status: 413, maxBytes: 100 });
    }
  });

  test("a body of a route without a token above its own limit, with and without its length", async () => {
    await using api = await start();
    const maxBytes = HTTP_LIMITS.publicBodyBytes;
    const big = JSON.stringify({ token: "x".repeat(maxBytes) });
    const chunked = { body: new Blob([big]).stream(), duplex: "half", headers: json } as RequestInit;
    for (const init of [{ body: big, headers: { ...json, "content-length": String(big.length) } }, chunked]) {
      const problem = await problemOf(await api.request("POST /login", init));
      expect(problem).toMatchObject({ type: "body_too_large", status: 413, maxBytes });
    }
    // Routes with a token have the larger limit.
    expect((await api.request("POST /tokens", { body: big, headers: json })).status).toBe(400);
    await using strict = await start({ limits: { bodyBytes: 10 } });
    const problem = await problemOf(await strict.request("POST /login", { json: { token: "x".repeat(10) } }));
    expect(problem).toMatchObject({ type: "body_too_large", maxBytes: 10 });
  });

  test("a symbolic link to a folder outside the roots", async () => {
    await using api = await start();
    const link = join(api.root, "link");
    await symlink(tmpdir(), link);
    expect((await problemOf(await api.request("POST /sessions", { json: { cwd: link } }))).type).toBe(
      "path_not_allowed",
    );
  });

  test("a cursor from the future", async () => {
    await using api = await start();
    const { id } = await createSession(api);
    for (const accept of ["application/json", "text/event-stream"]) {
      const response = await api.request(`GET /sessions/${id}/events?after=999`, { headers: { accept } });
      expect((await problemOf(response)).type).toBe("invalid_cursor");
    }
    const watch = await api.request(`GET /events?watch=${id}:999`, {
      headers: { accept: "text/event-stream" },
    });
    expect((await problemOf(watch)).type).toBe("invalid_cursor");
  });

  test("a deadline in the past is refused, except in a repetition of an accepted request", async () => {
    await using api = await start();
    const past = { cwd: api.root, deadline: Date.now() - 1 };
    const refused = await problemOf(await api.request("POST /sessions", { json: past }));
    expect(refused).toMatchObject({ type: "bad_request", errors: [{ path: "body.deadline" }] });
    const headers = { "idempotency-key": randomUUID() };
    const deadline = Date.now() + 3_600_000;
    const create = () => api.request("POST /sessions", { json: { cwd: api.root, deadline }, headers });
    const { session } = (await (await create()).json()) as { session: Session };
    const settings = (value: number | null) =>
      api.request(`PATCH /sessions/${session.id}/settings`, { json: { deadline: value } });
    expect((await problemOf(await settings(1))).type).toBe("bad_request");
    expect((await settings(null)).status).toBe(202);
    vi.useFakeTimers({ toFake: ["Date"], now: deadline + 1 });
    try {
      expect((await create()).status).toBe(202);
    } finally {
      vi.useRealTimers();
    }
  });

  test("too many requests, sessions and streams", async () => {
    await using rate = await start({ limits: { requestsPerSecond: 0.001, requestBurst: 2 } });
    await rate.request("GET /whoami");
    await rate.request("GET /whoami");
    const limited = await rate.request("GET /whoami");
    expect((await problemOf(limited)).type).toBe("rate_limited");
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);

    await using few = await start({ limits: { sessions: 1, streams: 1 } });
    const { id } = await createSession(few);
    const second = await few.request("POST /sessions", { json: { cwd: few.root } });
    expect((await problemOf(second)).type).toBe("too_many_sessions");
    const headers = { accept: "text/event-stream" };
    const stream = await few.request(`GET /sessions/${id}/events`, { headers });
    const refused = await few.request(`GET /sessions/${id}/events`, { headers });
    expect((await problemOf(refused)).type).toBe("too_many_connections");
    await stream.body?.cancel();
    const again = await few.request("GET /events", { headers });
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });

  test("commands while the daemon drains", async () => {
    await using api = await start();
    const { id } = await createSession(api);
    await api.daemon.drain(0);
    expect((await problemOf(await api.request(`POST /sessions/${id}/compact`))).type).toBe("draining");
    expect((await problemOf(await api.request("POST /sessions", { json: { cwd: api.root } }))).type).toBe(
      "draining",
    );
    expect((await problemOf(await api.request("GET /ready"))).type).toBe("draining");
    expect((await api.request(`GET /sessions/${id}`)).status).toBe(200);
    expect((await api.request("GET /health")).status).toBe(200);
  });
});

test("limits the requests without a token of each route separately", async () => {
  await using locations = await TestLocations.start("sqlite");
  await using api = await startTestDaemon(await openDatabase(await locations.create()), {
    limits: { requestsPerSecond: 0.001, requestBurst: 2 },
  });
  const statuses = async (operation: string): Promise<number[]> => [
    (await api.request(operation)).status,
    (await api.request(operation)).status,
    (await api.request(operation)).status,
  ];
  for (const operation of ["GET /openapi.json", "GET /ready", "GET /health"]) {
    expect(await statuses(operation)).toEqual([200, 200, 429]);
  }
});

test("is not ready if the store does not answer in time, and ready when it answers again", async () => {
  await using locations = await TestLocations.start("postgres");
  await using proxy = await PostgresProxy.start(await locations.create());
  await using api = await startTestDaemon(await openDatabase(proxy.url), { limits: { readyMs: 200 } });
  expect((await api.request("GET /ready")).status).toBe(200);
  proxy.setMode("blackhole");
  const responses = await Promise.all(Array.from({ length: 50 }, async () => api.request("GET /ready")));
  for (const response of responses) {
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await problemOf(response)).toMatchObject({
      type: "store_unavailable",
      status: 503,
      detail: expect.stringContaining("within 200 ms"),
    });
  }
  proxy.setMode("pass");
  await expect.poll(async () => (await api.request("GET /ready")).status).toBe(200);
  expect((await api.request("GET /sessions")).status).toBe(200);
});

test("answers with a problem while Postgres is down, and works again afterwards", async () => {
  await using locations = await TestLocations.start("postgres");
  await using api = await startTestDaemon(
    await openDatabase(await locations.create(), { limits: { connectMs: 1000 } }),
  );
  const { id } = await createSession(api);
  await locations.postgres.kill();
  expect(await problemOf(await api.request("GET /sessions"))).toMatchObject({
    type: "store_unavailable",
    status: 503,
  });
  expect((await problemOf(await api.request("GET /ready"))).type).toBe("store_unavailable");
  expect(api.logs.join("")).not.toContain("request failed");
  await locations.postgres.restart();
  const listed = (await (await api.request("GET /sessions")).json()) as { data: Session[] };
  expect(listed.data.map((session) => session.id)).toEqual([id]);
});
