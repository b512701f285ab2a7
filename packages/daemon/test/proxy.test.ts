import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TerminalSummary } from "../src/api/terminal.ts";
import { DaemonClient } from "../src/client/client.ts";
import { useDatabases } from "./database-fixture.ts";
import { codeOf, type FleetNode, startFleet } from "./fleet-fixture.ts";
import { TestViewer } from "./terminal-viewer.ts";

const databases = useDatabases("postgres");

function request(
  { url, api }: FleetNode,
  path: string,
  init: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  return fetch(url + path, { ...init, headers: { authorization: `Bearer ${api.token}`, ...init.headers } });
}

async function openTerminal(
  node: FleetNode,
  sessionId: string,
  command: readonly string[],
): Promise<TerminalSummary> {
  return node.client.request("POST /sessions/{sessionId}/terminals", {
    params: { sessionId },
    body: { command: [...command] },
  });
}

function attach(
  { url, api }: FleetNode,
  sessionId: string,
  id: string,
  token = api.token,
): Promise<TestViewer> {
  return TestViewer.connect(`${url}/sessions/${sessionId}/terminals/${id}/attach`, {
    authorization: `Bearer ${token}`,
  });
}

async function outcomes({ api }: FleetNode): Promise<Record<string, number>> {
  const text = await (await api.request("GET /metrics")).text();
  const lines = [...text.matchAll(/^codexkit_proxied_requests_total\{outcome="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, outcome, count]) => [outcome, Number(count)]));
}

test("files are listed, read in ranges, searched and written through another node", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  await writeFile(join(b.api.root, "notes.txt"), "0123456789");
  const files = a.client.files(session.id);
  expect((await files.list()).data).toMatchObject([{ name: "notes.txt" }]);

  const path = `/sessions/${session.id}/files/content?path=notes.txt`;
  const range = await request(a, path, { headers: { range: "bytes=2-4" } });
  expect([range.status, await range.text(), range.headers.get("content-range")]).toEqual([
    206,
    "234",
    "bytes 2-4/10",
  ]);
  const etag = range.headers.get("etag") ?? "";
  expect((await request(a, path, { headers: { "if-none-match": etag } })).status).toBe(304);
  const head = await request(a, path, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "10", ""]);

  const changed = await request(a, `${path}&wait=10000`, {
    method: "PUT",
    headers: { "if-match": etag, "idempotency-key": "once" },
    body: "new",
  });
  expect(await changed.json()).toMatchObject({ state: "done", key: "once", result: { bytes: 3 } });
  const stale = await request(a, path, { method: "PUT", headers: { "if-match": etag }, body: "late" });
  expect([stale.status, await stale.json()]).toEqual([
    412,
    expect.objectContaining({ type: "precondition_failed" }),
  ]);
  const missing = await request(a, `/sessions/${session.id}/files/content?path=none`);
  expect([missing.status, await missing.json()]).toEqual([
    404,
    expect.objectContaining({ type: "file_not_found" }),
  ]);
  expect(await outcomes(a)).toEqual({ ok: 7 });
  expect(await outcomes(b)).toEqual({});
});

test("large files are streamed in both directions without being buffered", async () => {
  await using fleet = await startFleet(databases);
  const session = await fleet.createSession();
  const bytes = Buffer.alloc(24 * 1024 * 1024, "0123456789abcdef");
  const path = `/sessions/${session.id}/files/content?path=large.bin`;
  const put = await request(fleet.a, `${path}&wait=30000`, { method: "PUT", body: bytes });
  expect(await put.json()).toMatchObject({ state: "done", result: { bytes: bytes.length } });
  const got = await request(fleet.a, path);
  expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
});

test("a body that is too large is refused, with and without a declared length", async () => {
  await using fleet = await startFleet(databases, { fileLimits: { writeBytes: 1000 } });
  const session = await fleet.createSession();
  const path = `/sessions/${session.id}/files/content?path=large.bin`;
  const declared = await request(fleet.a, path, { method: "PUT", body: Buffer.alloc(100_000) });
  expect([declared.status, await declared.json()]).toEqual([
    413,
    expect.objectContaining({ type: "body_too_large" }),
  ]);
  const chunks = ReadableStream.from([Buffer.alloc(600), Buffer.alloc(600)]);
  const chunked = await request(fleet.a, path, {
    method: "PUT",
    body: chunks,
    duplex: "half",
  });
  expect(chunked.status).toBe(413);
});

test("file changes are streamed, and the watch ends with its reader", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  const stop = new AbortController();
  const changes = a.client.files(session.id).changes(".", { signal: stop.signal });
  expect((await changes.next()).value).toMatchObject({ type: "watching" });
  await writeFile(join(b.api.root, "new.txt"), "");
  expect((await changes.next()).value).toMatchObject({ type: "changed" });
  expect(await streamsOf(b)).toBe(1);
  stop.abort();
  await changes.return?.(undefined);
  await expect.poll(async () => streamsOf(b)).toBe(0);
});

async function streamsOf({ client }: FleetNode): Promise<number> {
  return (await client.request("GET /diagnostics")).streams.files;
}

test("an uploaded image is stored on the session's node, where a message can reference it", async () => {
  await using fleet = await startFleet(databases);
  const { a } = fleet;
  const session = await fleet.createSession();
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const { id: imageId } = await a.client.files(session.id).uploadImage(png);
  const image = await request(a, `/sessions/${session.id}/images/${imageId}`);
  expect([image.headers.get("content-type"), Buffer.from(await image.arrayBuffer()).equals(png)]).toEqual([
    "image/png",
    true,
  ]);
  const sent = await a.client.send(session.id, [{ type: "uploadedImage", imageId }], { wait: 10_000 });
  expect(sent).toMatchObject({ state: "done" });
  const unknown = a.client.send(session.id, [{ type: "uploadedImage", imageId: "0".repeat(64) }]);
  expect(await codeOf(unknown)).toBe("not_found");
});

test("a session is created on the node that the request names, once", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const body = { cwd: b.api.root, node: "b" };
  const options = { wait: 10_000, idempotencyKey: "the-same" };
  const first = await a.client.createSession(body, options);
  expect(first.session).toMatchObject({ node: "b", phase: "idle" });
  const sameClient = new DaemonClient({ url: b.url, token: a.api.token });
  const second = await sameClient.createSession(body, options);
  expect(second.session.id).toBe(first.session.id);
  expect(await codeOf(a.client.createSession({ cwd: "/", node: "b" }))).toBe("path_not_allowed");
  expect(await codeOf(a.client.createSession({ cwd: "/", node: "nowhere" }))).toBe("node_unavailable");
});

test("a terminal works through another node: screen, input, resize, end and its close code", async () => {
  await using fleet = await startFleet(databases);
  const { a } = fleet;
  const session = await fleet.createSession();
  const script = "read -r line; echo got $line; stty size; read -r line";
  const terminal = await openTerminal(a, session.id, ["bash", "-c", script]);
  await using viewer = await attach(a, session.id, terminal.id);
  expect(await viewer.untilFrame("attached")).toMatchObject({ canWrite: true });
  viewer.send({ type: "takeWriter" });
  await viewer.untilFrame("writer");
  viewer.send({ type: "resize", columns: 60, rows: 20 });
  // The size that the program sees changes with the screen.
  await viewer.until(({ frames }) => frames.some((frame) => frame.type === "screen" && frame.columns === 60));
  viewer.send({ type: "input", data: "hello\r" });
  await viewer.until(({ text }) => /got hello[^]*20 60/.test(text));
  const closed = once(viewer.socket, "close");
  viewer.send({ type: "input", data: "\r" });
  expect(await viewer.untilFrame("ended")).toMatchObject({ exitCode: 0 });
  expect((await closed)[0]).toBe(1000);
  const { data } = await a.client.request("GET /sessions/{sessionId}/terminals", {
    params: { sessionId: session.id },
  });
  expect(data).toMatchObject([{ id: terminal.id, state: "ended" }]);
});

test("pings are answered, and refused messages do not end the connection", async () => {
  await using fleet = await startFleet(databases);
  const session = await fleet.createSession();
  const terminal = await openTerminal(fleet.a, session.id, ["sleep", "100"]);
  await using viewer = await attach(fleet.a, session.id, terminal.id);
  viewer.socket.ping("here");
  const [pong] = (await once(viewer.socket, "pong")) as [Buffer];
  expect(pong.toString()).toBe("here");
  viewer.socket.send("{");
  expect(await viewer.untilFrame("problem")).toMatchObject({ problem: { type: "invalid_json" } });
  viewer.send({ type: "input", data: "x" });
  await viewer.until(({ frames }) => frames.filter(({ type }) => type === "problem").length === 2);
});

test("requests for terminals and files of an unavailable node fail with node_unavailable and a retry time", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  const path = `/sessions/${session.id}/terminals`;
  const expectAway = async (): Promise<void> => {
    const response = await request(a, path);
    expect([response.status, response.headers.get("retry-after"), await response.json()]).toEqual([
      503,
      "5",
      expect.objectContaining({ type: "node_unavailable", node: "b" }),
    ]);
    const socket = attach(a, session.id, "some");
    await expect(socket).rejects.toThrow("Refused: 503");
  };
  await fleet.setUrl(b, null);
  await expectAway();
  await fleet.setUrl(b, "http://127.0.0.1:1");
  await expectAway();
  await b.api.database.nodes.retire(b.nodeId);
  await expectAway();
  // Data in the store is still served.
  expect(
    await a.client.request("GET /sessions/{sessionId}", { params: { sessionId: session.id } }),
  ).toMatchObject({ id: session.id });
});

test("the node that the client is connected to checks the scopes, and does not forward credentials", async () => {
  await using fleet = await startFleet(databases);
  const { a } = fleet;
  const session = await fleet.createSession();
  const reader = await a.api.createToken(["read"]);
  const client = new DaemonClient({ url: a.url, token: reader });
  expect((await client.files(session.id).list()).data).toEqual([]);
  expect(await codeOf(client.files(session.id).write("new.txt", "text"))).toBe("forbidden");
  const terminal = await openTerminal(a, session.id, ["cat"]);
  await using viewer = await attach(a, session.id, terminal.id, reader);
  expect(await viewer.untilFrame("attached")).toMatchObject({ canWrite: false });
  viewer.send({ type: "takeWriter" });
  expect(await viewer.untilFrame("problem")).toMatchObject({ problem: { type: "forbidden" } });
});
