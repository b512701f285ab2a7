import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { access, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TerminalSummary } from "../src/api/terminal.ts";
import type { Problem } from "../src/api/problem.ts";
import type { Session } from "../src/api/session.ts";
import type { Scope } from "../src/api/route.ts";
import { DaemonClient } from "../src/client/client.ts";
import { useDatabases } from "./database-fixture.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";
import { TestViewer } from "./terminal-viewer.ts";

const databases = useDatabases("sqlite");

interface Setup extends AsyncDisposable {
  readonly api: TestDaemon;
  readonly sessionId: string;
  open(command: readonly string[], more?: object): Promise<TerminalSummary>;
  attach(id: string, options?: { after?: number; token?: string; headers?: object }): Promise<TestViewer>;
  state(id: string): Promise<TerminalSummary>;
  tokenOf(scopes: readonly Scope[]): Promise<string>;
}

async function setUp(options: Parameters<typeof startTestDaemon>[1] = {}): Promise<Setup> {
  const api = await startTestDaemon(await databases.open(), options);
  await api.listen();
  const created = await api.request("POST /sessions?wait=10000", { json: { cwd: api.root } });
  const sessionId = ((await created.json()) as { session: Session }).session.id;
  const path = (id: string): string => `/sessions/${sessionId}/terminals/${id}`;
  return {
    api,
    sessionId,
    open: async (command, more = {}) => {
      const response = await api.request(`POST /sessions/${sessionId}/terminals`, {
        json: { command, ...more },
      });
      if (response.status !== 201) throw new Error(await response.text());
      return (await response.json()) as TerminalSummary;
    },
    attach: async (id, { after, token = api.token, headers = {} } = {}) =>
      TestViewer.connect(
        `${api.daemon.url}${path(id)}/attach${after === undefined ? "" : `?after=${after}`}`,
        { authorization: `Bearer ${token}`, ...headers },
      ),
    state: async (id) => (await (await api.request(`GET ${path(id)}`)).json()) as TerminalSummary,
    tokenOf: async (scopes) => api.createToken(scopes),
    [Symbol.asyncDispose]: async () => api[Symbol.asyncDispose](),
  };
}

/** Forwards connections, and can break the open ones. */
async function startProxy(target: string): Promise<AsyncDisposable & { url: string; cut(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target).port), "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
    },
  };
}

test("a program runs on a terminal of the given size, takes input and is resized", async () => {
  await using it = await setUp();
  const script =
    "trap 'echo winch' WINCH; stty size; pwd; while read -r line; do stty size; done; echo after";
  const terminal = await it.open(["bash", "-c", script], { columns: 100, rows: 30 });
  expect(terminal).toMatchObject({ state: "running", columns: 100, rows: 30, viewers: 0, writer: null });
  await using viewer = await it.attach(terminal.id);
  expect(await viewer.untilFrame("attached")).toMatchObject({ canWrite: true, resumed: false });
  await viewer.until(({ text }) => text.includes(it.api.root));
  expect(viewer.text).toContain("30 100");
  viewer.send({ type: "takeWriter" });
  viewer.send({ type: "resize", columns: 60, rows: 20 });
  await viewer.until(({ screen }) => screen.size.columns === 60);
  viewer.send({ type: "input", data: "héllo\r" });
  await viewer.until(({ text }) => text.includes("20 60") && text.includes("winch"));
  expect(Buffer.from(viewer.text, "latin1").toString()).toContain("héllo\r\n");
  viewer.send({ type: "input", data: "\u0004" });
  expect(await viewer.untilFrame("ended")).toEqual({ type: "ended", exitCode: 0 });
  expect(viewer.text).toContain("after");
  expect(await it.state(terminal.id)).toMatchObject({ state: "ended", exitCode: 0, columns: 60 });
  // The device of the terminal, which is printed first, is not part of the output.
  expect(viewer.text).not.toContain("/dev/pts");
  const audit = await it.api.database.audit.list({ sessionId: it.sessionId });
  expect(audit.rows.map(({ action }) => action)).toEqual(["terminal.created"]);
});

test("50,000 lines with a stalled viewer: the program ends, and all viewers see the same screen", async () => {
  await using it = await setUp({ terminalLimits: { unparsedBytes: 64 * 1024, replayBytes: 128 * 1024 } });
  const done = join(it.api.root, "done");
  // More than the buffers of a connection can hold.
  const line = "x".repeat(200);
  const script = `read go; for ((i = 0; i < 50000; i++)); do echo "$i ${line}"; done; echo > ${done}; echo finished; read end`;
  const terminal = await it.open(["bash", "-c", script]);
  await using stalled = await it.attach(terminal.id);
  await using reader = await it.attach(terminal.id);
  await stalled.untilFrame("screen");
  stalled.socket.pause();
  reader.send({ type: "takeWriter" });
  reader.send({ type: "input", data: "go\r" });
  await reader.until(({ text }) => text.includes("finished\r\n"));
  expect(reader.offset).toBeGreaterThan(50_000 * line.length);
  // The program did not wait for the stalled viewer.
  await access(done);
  expect(stalled.offset).toBeLessThan(reader.offset);
  stalled.socket.resume();
  await stalled.until(({ offset }) => offset === reader.offset);
  // The viewer received a screen instead of the output that it missed.
  expect(stalled.screens).toBeGreaterThan(1);
  const served = await it.api.request(`GET /sessions/${it.sessionId}/terminals/${terminal.id}/screen`);
  const { screen, offset } = (await served.json()) as { screen: string; offset: number };
  expect(offset).toBe(reader.offset);
  expect(await reader.drawn()).toBe(screen);
  expect(await stalled.drawn()).toBe(screen);
}, 60_000);

test("a viewer that reconnects continues, or receives the screen if it missed too much output", async () => {
  await using it = await setUp({ terminalLimits: { replayBytes: 10_000 } });
  const terminal = await it.open(["sh", "-c", "echo first; read a; seq 1 500; read b; seq 1 5000; read c"]);
  await using writer = await it.attach(terminal.id);
  writer.send({ type: "takeWriter" });
  let offset: number;
  {
    await using left = await it.attach(terminal.id);
    await left.until(({ text }) => text.includes("first"));
    offset = left.offset;
  }
  writer.send({ type: "input", data: "\r" });
  await writer.until(({ text }) => text.includes("\n500\r\n"));
  await using back = await it.attach(terminal.id, { after: offset });
  expect(await back.untilFrame("attached")).toMatchObject({ resumed: true });
  await back.until(({ offset: at }) => at === writer.offset);
  expect(back.screens).toBe(0);
  expect(back.text).toContain("\n499\r\n");
  writer.send({ type: "input", data: "\r" });
  await writer.until(({ text }) => text.includes("\n5000\r\n"));
  await using late = await it.attach(terminal.id, { after: offset });
  expect(await late.untilFrame("attached")).toMatchObject({ resumed: false });
  await late.untilFrame("screen");
  await late.until(({ offset: at }) => at === writer.offset);
  expect(await late.drawn()).toBe(await writer.drawn());
});

test("one viewer at a time controls the input, and another viewer can take it over", async () => {
  await using it = await setUp();
  const terminal = await it.open(["cat"]);
  const reads = await it.tokenOf(["read"]);
  await using first = await it.attach(terminal.id);
  await using second = await it.attach(terminal.id);
  await using reader = await it.attach(terminal.id, { token: reads });
  const { viewerId } = await first.untilFrame("attached");
  const { viewerId: secondId } = await second.untilFrame("attached");
  expect(await reader.untilFrame("attached")).toMatchObject({ canWrite: false });
  reader.send({ type: "takeWriter" });
  expect((await reader.untilFrame("problem")).problem).toMatchObject({ type: "forbidden", status: 403 });
  first.send({ type: "input", data: "x" });
  expect((await first.untilFrame("problem")).problem).toMatchObject({ type: "not_writer", status: 409 });
  first.send({ type: "takeWriter" });
  expect(await second.untilFrame("writer")).toEqual({ type: "writer", viewerId });
  second.frames.length = 0;
  second.send({ type: "takeWriter" });
  expect(await second.untilFrame("writer")).toEqual({ type: "writer", viewerId: secondId });
  first.frames.length = 0;
  first.send({ type: "resize", columns: 10, rows: 10 });
  expect((await first.untilFrame("problem")).problem.type).toBe("not_writer");
  second.send({ type: "input", data: "typed\r" });
  await reader.until(({ text }) => text.includes("typed\r\ntyped\r\n"));
  expect(await it.state(terminal.id)).toMatchObject({ viewers: 3, writer: secondId, columns: 80 });
  second.socket.terminate();
  first.frames.length = 0;
  expect(await first.untilFrame("writer")).toEqual({ type: "writer", viewerId: null });
});

test("the upgrade is checked like any other request", async () => {
  await using it = await setUp({ terminalLimits: { viewers: 1 } });
  const terminal = await it.open(["cat"]);
  const attach = async (headers: object, id = terminal.id): Promise<TestViewer> => it.attach(id, { headers });
  await expect(attach({ authorization: "" })).rejects.toThrow("401");
  await expect(attach({ authorization: "Bearer wrong" })).rejects.toThrow("401");
  const approves = await it.tokenOf(["approve"]);
  await expect(attach({ authorization: `Bearer ${approves}` })).rejects.toThrow("403");
  await expect(attach({ origin: "http://evil.example" })).rejects.toThrow("403");
  await expect(attach({ host: "evil.example" })).rejects.toThrow("403");
  await expect(attach({}, "none")).rejects.toThrow("404");
  await using viewer = await TestViewer.connect(
    `${it.api.daemon.url}/sessions/${it.sessionId}/terminals/${terminal.id}/attach`,
    { cookie: `codexkit_token=${it.api.token}`, origin: it.api.daemon.url ?? "" },
  );
  await viewer.untilFrame("screen");
  await using refused = await attach({});
  expect((await refused.untilFrame("problem")).problem.type).toBe("too_many_connections");
  const plain = await it.api.request(`GET /sessions/${it.sessionId}/terminals/${terminal.id}/attach`);
  expect(plain.status).toBe(426);
  await expect(TestViewer.connect(`${it.api.daemon.url}/health`, {})).rejects.toThrow("400");
});

test("invalid messages are refused, and the connection stays open", async () => {
  await using it = await setUp();
  const terminal = await it.open(["cat"]);
  await using viewer = await it.attach(terminal.id);
  for (const [message, type] of [
    ["{", "invalid_json"],
    ['{"type":"shout"}', "bad_request"],
    ['{"type":"resize","columns":0,"rows":1}', "bad_request"],
    [Buffer.from("x"), "bad_request"],
  ] as const) {
    viewer.frames.length = 0;
    viewer.socket.send(message);
    expect((await viewer.untilFrame("problem")).problem.type).toBe(type);
  }
  viewer.send({ type: "takeWriter" });
  viewer.send({ type: "input", data: "still\r" });
  await viewer.until(({ text }) => text.includes("still\r\nstill"));
});

test("input that the program does not read immediately is delivered completely later", async () => {
  await using it = await setUp({ terminalLimits: { unreadInputBytes: 1000 } });
  execFileSync("mkfifo", [join(it.api.root, "gate")]);
  const script = "stty raw -echo; echo ready; cat gate; head -c 100000 | wc -c";
  const terminal = await it.open(["sh", "-c", script]);
  await using viewer = await it.attach(terminal.id);
  viewer.send({ type: "takeWriter" });
  await viewer.until(({ text }) => text.includes("ready"));
  for (let count = 0; count < 200; count += 1) viewer.send({ type: "input", data: "y".repeat(500) });
  await writeFile(join(it.api.root, "gate"), "opened");
  await viewer.until(({ text }) => text.includes("100000"));
});

test("terminals are listed, limited and deleted with their processes", async () => {
  await using it = await setUp({ terminalLimits: { terminalsPerSession: 2, terminals: 3 } });
  const first = await it.open(["cat"]);
  await it.open(["cat"]);
  const response = await it.api.request(`POST /sessions/${it.sessionId}/terminals`, { json: {} });
  expect(response.status).toBe(429);
  expect(((await response.json()) as Problem).type).toBe("too_many_terminals");
  await using viewer = await it.attach(first.id);
  await viewer.untilFrame("screen");
  const deleted = await it.api.request(`DELETE /sessions/${it.sessionId}/terminals/${first.id}`);
  expect(deleted.status).toBe(204);
  await viewer.untilFrame("ended");
  const listed = await it.api.request(`GET /sessions/${it.sessionId}/terminals`);
  expect(((await listed.json()) as { data: TerminalSummary[] }).data).toHaveLength(1);
  const outside = await it.api.request(`POST /sessions/${it.sessionId}/terminals`, { json: { cwd: ".." } });
  expect(((await outside.json()) as Problem).type).toBe("file_not_found");
});

test("a terminal can be deleted although a detached process holds it open", async () => {
  await using it = await setUp();
  const { id } = await it.open([
    "/bin/sh",
    "-c",
    "setsid sh -c 'echo $$; exec sleep 300' & sleep 0.3; echo gone",
  ]);
  await using viewer = await it.attach(id);
  await viewer.until(({ text }) => text.includes("gone"));
  const pid = Number(/\d+/.exec(await viewer.drawn())?.[0]);
  try {
    const deleted = await it.api.request(`DELETE /sessions/${it.sessionId}/terminals/${id}`);
    expect(deleted.status).toBe(204);
    expect(await viewer.untilFrame("ended")).toEqual({ type: "ended", exitCode: 0 });
  } finally {
    process.kill(pid);
  }
});

test("terminals that are opened at once don't exceed the limit of their session", async () => {
  await using it = await setUp({ terminalLimits: { terminalsPerSession: 2 } });
  const opened = await Promise.allSettled(Array.from({ length: 6 }, async () => it.open(["cat"])));
  expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
});

test("terminals end with their session, and with the daemon", async () => {
  await using it = await setUp();
  const terminal = await it.open(["cat"]);
  {
    await using viewer = await it.attach(terminal.id);
    await viewer.untilFrame("screen");
    await it.api.request(`DELETE /sessions/${it.sessionId}?wait=10000`);
    await viewer.untilFrame("ended");
  }
  const created = await it.api.request("POST /sessions?wait=10000", { json: { cwd: it.api.root } });
  const { session } = (await created.json()) as { session: Session };
  const opened = await it.api.request(`POST /sessions/${session.id}/terminals`, {
    json: { command: ["cat"] },
  });
  const { id } = (await opened.json()) as TerminalSummary;
  await using viewer = await TestViewer.connect(
    `${it.api.daemon.url}/sessions/${session.id}/terminals/${id}/attach`,
    { authorization: `Bearer ${it.api.token}` },
  );
  await viewer.untilFrame("screen");
  await it.api.daemon.close();
  expect(await viewer.untilFrame("ended")).toEqual({ type: "ended", exitCode: null });
});

test("the client attaches, and continues after its connection was cut", async () => {
  await using it = await setUp();
  await using proxy = await startProxy(it.api.daemon.url ?? "");
  const client = new DaemonClient({ url: proxy.url, token: it.api.token });
  const terminal = await it.open(["cat"]);
  let text = "";
  let changed = Promise.withResolvers<void>();
  const wake = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone()) await changed.promise;
  };
  let isWriter = false;
  let screens = 0;
  const connection = client.attachTerminal(it.sessionId, terminal.id, {
    onScreen: ({ screen }) => {
      text = screen;
      screens += 1;
      wake();
    },
    onOutput: (bytes) => {
      text += new TextDecoder().decode(bytes);
      wake();
    },
    onWriter: ({ isSelf }) => {
      isWriter = isSelf;
      wake();
    },
  });
  await until(() => screens === 1);
  connection.takeWriter();
  await until(() => isWriter);
  connection.input("one\r");
  await until(() => text.includes("one\r\none\r\n"));
  proxy.cut();
  await until(() => !isWriter);
  await until(() => isWriter);
  connection.input("two\r");
  await until(() => text.includes("two\r\ntwo\r\n"));
  expect(screens).toBe(1);
  expect(text).toBe("one\r\none\r\ntwo\r\ntwo\r\n");
  connection.input("\u0004");
  expect(await connection.ended).toBe(0);
  const unknown = client.attachTerminal(it.sessionId, "none", { onScreen: wake, onOutput: wake });
  await expect(unknown.ended).rejects.toMatchObject({ code: "not_found" });
});

test("a refused viewer that sends invalid frames does no harm", async () => {
  await using it = await setUp({ terminalLimits: { viewers: 1 } });
  const terminal = await it.open(["sh", "-c", "echo ready; read line; echo still there; read end"]);
  await using viewer = await it.attach(terminal.id);
  await viewer.until(({ text }) => text.includes("ready"));
  const { host, port } = new URL(it.api.daemon.url ?? "");
  const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
  socket.resume();
  const head = [
    `GET /sessions/${it.sessionId}/terminals/${terminal.id}/attach HTTP/1.1`,
    `host: ${host}`,
    `authorization: Bearer ${it.api.token}`,
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${Buffer.alloc(16).toString("base64")}`,
  ];
  // A frame with reserved bits.
  socket.write(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), Buffer.alloc(64, 0xff)]));
  await once(socket, "close");
  viewer.send({ type: "takeWriter" });
  viewer.send({ type: "input", data: "\r" });
  await viewer.until(({ text }) => text.includes("still there"));
});
