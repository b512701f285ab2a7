// Limits that can only be observed from outside the daemon.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import type { Command } from "../src/api/session.ts";
import { newSession, useDatabases } from "./database-fixture.ts";
import { HTTP_LIMITS } from "../src/limits.ts";
import { WEBHOOK_SETTINGS } from "../src/webhooks/limits.ts";
import { startTestDaemon } from "./test-daemon.ts";

const databases = useDatabases("sqlite");

test("connections beyond the limit are dropped, and accepted again after open ones have ended", async () => {
  await using api = await startTestDaemon(await databases.open(), { limits: { connections: 2 } });
  const port = Number(new URL(await api.daemon.listen()).port);
  const open = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  };
  /** The first line of the response to a request on a connection, or undefined if it was dropped. */
  const ask = async (socket: Socket): Promise<string | undefined> => {
    socket.write(`GET /health HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
    const [data] = (await Promise.race([once(socket, "data"), once(socket, "close")])) as unknown[];
    return Buffer.isBuffer(data) ? data.toString().split("\r\n", 1)[0] : undefined;
  };
  const [first, second] = [await open(), await open()];
  expect([await ask(first), await ask(second)]).toEqual(["HTTP/1.1 200 OK", "HTTP/1.1 200 OK"]);
  expect(await ask(await open())).toBeUndefined();
  expect(await ask(second)).toBe("HTTP/1.1 200 OK");
  first.destroy();
  await expect.poll(async () => ask(await open())).toBe("HTTP/1.1 200 OK");
  second.destroy();
});

test("pipelined requests are handled one after the other, and too many of them end the connection", async () => {
  await using api = await startTestDaemon(await databases.open(), { limits: { pipelinedRequests: 3 } });
  const { host, port } = new URL(await api.daemon.listen());
  const { session } = await api.database.sessions.insert(newSession());
  const stream = `/sessions/${session.id}/events`;
  const requests = (...paths: string[]): string =>
    paths
      .map((path) =>
        [
          `GET ${path} HTTP/1.1`,
          `Host: ${host}`,
          `Authorization: Bearer ${api.token}`,
          `Accept: ${path === stream ? "text/event-stream" : "*/*"}`,
          "\r\n",
        ].join("\r\n"),
      )
      .join("");
  const openStreams = async (): Promise<number> => {
    const response = await api.request("GET /diagnostics");
    return ((await response.json()) as { streams: { sessions: number } }).streams.sessions;
  };
  const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => (received += text));
  socket.write(requests("/health", "/ready", stream, stream));
  await expect.poll(() => received).toContain("session.created");
  const statuses = received.match(/HTTP\/1\.1 \d+/g);
  expect(statuses).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 200"]);
  // The second request is not handled yet: the events of its stream would accumulate in memory.
  expect(await openStreams()).toBe(1);
  socket.write(requests("/health", "/health"));
  socket.write(requests("/health"));
  await once(socket, "close");
  await expect.poll(openStreams).toBe(0);
});

test("a body without a token is refused at its limit, even in chunks of one byte and without its end", async () => {
  await using api = await startTestDaemon(await databases.open());
  const { host, port } = new URL(await api.daemon.listen());
  const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
  const head = ["POST /login HTTP/1.1", `Host: ${host}`, "Content-Type: application/json"];
  socket.write([...head, "Transfer-Encoding: chunked", "\r\n"].join("\r\n"));
  socket.write("1\r\n \r\n".repeat(HTTP_LIMITS.publicBodyBytes + 1));
  const [data] = (await once(socket, "data")) as [Buffer];
  expect(data.toString()).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
});

test("a request waits for its command no longer than the limit", async () => {
  await using api = await startTestDaemon(await databases.open(), { limits: { waitMs: 1 } });
  // No daemon executes the commands of this session.
  const { session } = await api.database.sessions.insert(newSession({ needs: ["node:elsewhere"] }));
  const response = await api.request(`POST /sessions/${session.id}/messages?wait=60000`, {
    json: { input: "hello" },
  });
  expect(response.status).toBe(202);
  expect((await response.json()) as Command).toMatchObject({ state: "accepted" });
});

test("webhooks and tools at private addresses are refused when they are created", async () => {
  await using api = await startTestDaemon(await databases.open(), { webhooks: WEBHOOK_SETTINGS });
  const url = "http://127.0.0.1:1/hook";
  const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
  const tool = { name: "hook", description: "A hook", inputSchema: { type: "object" }, url, secret };
  const responses = [
    await api.request("POST /webhooks", { json: { url, events: ["turn.ended"] } }),
    await api.request("POST /sessions", { json: { cwd: api.root, tools: [tool] } }),
  ];
  for (const response of responses) {
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      type: "unprocessable",
      detail: expect.stringContaining("allowPrivateAddresses"),
    });
  }
  expect(await api.database.webhooks.list()).toEqual([]);
});
