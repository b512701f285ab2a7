// What a hostile client can do to the listener, before and after it authenticates.
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { gone } from "../../test/processes.ts";
import { RawClient } from "../../test/raw-client.ts";
import { startProgram } from "../../test/servers.ts";
import { ExecClient } from "../client/exec-client.ts";
import { ExecServer, type ExecServerOptions } from "./exec-server.ts";
import { sha256Hex } from "./ws-auth.ts";

const TOKEN: ExecServerOptions["auth"] = { mode: "capability-token", tokenSha256: sha256Hex("right") };

const open: Disposable[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]();
});

/** A TCP connection that sends exactly what it is given. */
async function rawSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname.replaceAll(/[[\]]/g, ""));
  socket.on("error", () => {});
  open.push({ [Symbol.dispose]: () => void socket.destroy() });
  await once(socket, "connect");
  return socket;
}

function upgradeRequest(headers: Record<string, string> = {}, path = "/"): string {
  const lines = Object.entries({
    host: "127.0.0.1",
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

const TOKEN_AUTH = ["--ws-auth", "capability-token", "--ws-token-sha256", sha256Hex("right")];

async function firstBytes(socket: Socket): Promise<string> {
  const [bytes] = (await once(socket, "data")) as [Buffer];
  return String(bytes);
}

async function closed(socket: Socket): Promise<void> {
  socket.resume();
  if (!socket.closed) await once(socket, "close");
}

/** A client frame without content. The mask is zero, so that the payload is sent as it is. */
function frame(opcode: number, isFinal: boolean, payload: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([
    Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | payload.length, 0, 0, 0, 0]),
    payload,
  ]);
}

/** Pings are sent when a test says so, not while it waits for something else. */
function fakeHeartbeat() {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const pingIntervalMs = 60_000;
  return {
    limits: { pingIntervalMs },
    advance: () => void vi.advanceTimersByTime(pingIntervalMs),
    [Symbol.dispose]: () => void vi.useRealTimers(),
  };
}

async function upgraded(url: string): Promise<Socket> {
  const socket = await rawSocket(url);
  socket.write(upgradeRequest());
  expect(await firstBytes(socket)).toMatch(/^HTTP\/1\.1 101 /);
  return socket;
}

describe("a refused upgrade", () => {
  test.each([
    ["without a token", {}, "/", 401],
    ["with a wrong token", { authorization: "Bearer wrong" }, "/", 401],
    ["of a browser", { origin: "http://evil.example", authorization: "Bearer right" }, "/", 403],
    ["for another path", { authorization: "Bearer right" }, "/other", 404],
  ])("%s is answered and its socket destroyed", async (_, headers, path, status) => {
    await using server = await ExecServer.start({ auth: TOKEN });
    const socket = await rawSocket(server.url ?? "");
    socket.write(upgradeRequest(headers, path));
    expect(await firstBytes(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await closed(socket);
  });

  test("is the answer to two Authorization headers", async () => {
    await using server = await ExecServer.start({ auth: TOKEN });
    const socket = await rawSocket(server.url ?? "");
    socket.write(upgradeRequest({ authorization: "Bearer right", Authorization: "Bearer wrong" }));
    expect(await firstBytes(socket)).toMatch(/^HTTP\/1\.1 400 /);
    await closed(socket);
  });

  test.each([
    ["two Host headers", upgradeRequest({ Host: "evil.example" })],
    ["HTTP/1.0", upgradeRequest().replace("HTTP/1.1", "HTTP/1.0")],
    ["HTTP/2.0", upgradeRequest().replace("HTTP/1.1", "HTTP/2.0")],
  ])("is the answer to %s", async (_, request) => {
    await using server = await ExecServer.start();
    const socket = await rawSocket(server.url ?? "");
    socket.write(request);
    expect(await firstBytes(socket)).toMatch(/^HTTP\/1\.1 400 /);
    await closed(socket);
  });

  test("costs no file descriptor, however many there are", async () => {
    await using server = await startProgram("ours", [...TOKEN_AUTH, "--log-level", "silent"]);
    const descriptors = async () => (await readdir(`/proc/${server.process?.child.pid}/fd`)).length;
    const before = await descriptors();
    for (let batch = 0; batch < 12; batch += 1) {
      const sockets = await Promise.all(Array.from({ length: 50 }, () => rawSocket(server.url)));
      for (const socket of sockets) socket.write(upgradeRequest());
      await Promise.all(sockets.map(closed));
    }
    expect(await descriptors()).toBeLessThan(before + 10);
    await using client = await ExecClient.connect(server.url, { token: "right" });
    expect(client.sessionId).not.toBe("");
  });
});

describe("Host", () => {
  test.each([
    ["evil.example", 403],
    ["evil.example:80", 403],
    ["127.0.0.1.evil.example", 403],
    ["localhost", 101],
    ["127.0.0.1:4500", 101],
    ["[::1]:4500", 101],
    ["build.example", 101],
  ])("%s is answered with %i without authentication", async (host, status) => {
    await using server = await ExecServer.start({ allowedHosts: ["Build.example"] });
    const socket = await rawSocket(server.url ?? "");
    socket.write(upgradeRequest({ host }));
    expect(await firstBytes(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test("does not matter to a client that authenticates", async () => {
    await using server = await ExecServer.start({ auth: TOKEN });
    const socket = await rawSocket(server.url ?? "");
    socket.write(upgradeRequest({ host: "build.example", authorization: "Bearer right" }));
    expect(await firstBytes(socket)).toMatch(/^HTTP\/1\.1 101 /);
  });
});

describe("a connection that does not complete its handshake", () => {
  test("is dropped after its time limit", async () => {
    await using server = await ExecServer.start({ limits: { handshakeTimeoutMs: 100 } });
    const silent = await rawSocket(server.url ?? "");
    const slow = await rawSocket(server.url ?? "");
    slow.write("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n");
    await Promise.all([closed(silent), closed(slow)]);
  });

  test("makes room for the next one when there are too many", async () => {
    await using server = await ExecServer.start({ limits: { pendingConnections: 3 } });
    const first = await rawSocket(server.url ?? "");
    for (let count = 0; count < 3; count += 1) await rawSocket(server.url ?? "");
    await closed(first);
    using client = await RawClient.ready(server.url ?? "");
    expect(client.sessionId).not.toBe("");
  });

  test("is refused above the limit of all connections", async () => {
    await using server = await ExecServer.start({ limits: { connections: 2 } });
    using _first = await RawClient.ready(server.url ?? "");
    using _second = await RawClient.ready(server.url ?? "");
    await expect(RawClient.open(server.url ?? "")).rejects.toThrow(/hang up|ECONNRESET/);
  });
});

describe("frames", () => {
  test("of an endless message are refused while memory stays bounded", { timeout: 60_000 }, async () => {
    await using server = await startProgram("ours", ["--log-level", "silent"]);
    const pid = server.process?.child.pid ?? 0;
    const residentMb = async () =>
      Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / 1000;
    const before = await residentMb();
    const socket = await upgraded(server.url);
    socket.write(frame(1, false, Buffer.from("{")));
    const empty = Buffer.concat(Array.from({ length: 10_000 }, () => frame(0, false)));
    for (let count = 0; count < 2_000 && !socket.destroyed; count += 1) {
      if (!socket.write(empty)) await Promise.race([once(socket, "drain"), closed(socket)]);
    }
    await closed(socket);
    expect((await residentMb()) - before).toBeLessThan(100);
    using client = await RawClient.ready(server.url);
    expect(client.sessionId).not.toBe("");
  });

  test.each([
    ["without a mask", Buffer.from([0x81, 0x00])],
    ["with reserved bits", Buffer.from([0xc1, 0x80, 0, 0, 0, 0])],
    ["of an unknown kind", frame(3, true)],
    ["that continue nothing", frame(0, true)],
    ["that are long pings", Buffer.from([0x89, 0xfe, 0, 126, 0, 0, 0, 0])],
    ["that announce 2^63 bytes", Buffer.from([0x81, 0xff, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])],
    ["with invalid UTF-8", frame(1, true, Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
  ])("%s end the connection", async (_, bytes) => {
    await using server = await ExecServer.start();
    const socket = await upgraded(server.url ?? "");
    socket.write(bytes);
    await closed(socket);
  });
});

test("a client that answers no ping is disconnected, and its session can be resumed", async () => {
  using heartbeat = fakeHeartbeat();
  await using server = await ExecServer.start({ limits: heartbeat.limits });
  const socket = await upgraded(server.url ?? "");
  const initialize = { id: 1, method: "initialize", params: { clientName: "half-open" } };
  const bytes = Buffer.from(JSON.stringify(initialize));
  socket.write(frame(1, true, bytes));
  let answer = "";
  while (!answer.includes("sessionId")) answer += await firstBytes(socket);
  heartbeat.advance();
  heartbeat.advance();
  await closed(socket);
  const sessionId = /"sessionId":"(?<id>[^"]+)"/.exec(answer)?.groups?.["id"];
  using client = await RawClient.open(server.url ?? "");
  let result = await client.call("initialize", { clientName: "next", resumeSessionId: sessionId });
  while (result.error?.code === -32010)
    result = await client.call("initialize", { clientName: "next", resumeSessionId: sessionId });
  expect(result.result?.["sessionId"]).toBe(sessionId);
});

test("no subprotocol is agreed to", async () => {
  await using server = await ExecServer.start();
  const socket = await rawSocket(server.url ?? "");
  socket.write(upgradeRequest({ "sec-websocket-protocol": "first, second" }));
  const answer = await firstBytes(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 101 /);
  expect(answer).not.toMatch(/sec-websocket-protocol/i);
});

test("a client that does not read its pongs gets no more of them", { timeout: 60_000 }, async () => {
  await using server = await ExecServer.start();
  const socket = await upgraded(server.url ?? "");
  socket.pause();
  const pings = 200_000;
  const ping = frame(9, true, Buffer.alloc(100));
  for (let sent = 0; sent < pings; sent += 1_000) {
    if (!socket.write(Buffer.concat(Array.from({ length: 1_000 }, () => ping)))) await once(socket, "drain");
  }
  let received = 0;
  socket.on("data", (bytes: Buffer) => {
    received += bytes.length;
  });
  socket.write(frame(8, true));
  await closed(socket);
  // A pong is as long as its ping, without the mask.
  expect(received).toBeLessThan(pings * (ping.length - 4));
});

test("a client that answers pings stays connected", async () => {
  using heartbeat = fakeHeartbeat();
  await using server = await ExecServer.start({ limits: heartbeat.limits });
  using client = await RawClient.ready(server.url ?? "");
  for (let count = 0; count < 5; count += 1) {
    heartbeat.advance();
    await once(client.socket, "ping");
    const pong = once(client.socket, "pong");
    // Answered after the server has received the pong, which was sent before.
    client.socket.ping();
    await pong;
  }
  expect((await client.call("environment/status")).result).toEqual({ status: "ready" });
});

test("SIGTERM ends children although a refused client holds its socket open", async () => {
  await using server = await startProgram("ours", [...TOKEN_AUTH, "--log-level", "silent"]);
  const refused = await rawSocket(server.url);
  refused.allowHalfOpen = true;
  refused.write(upgradeRequest());
  const halfSent = await rawSocket(server.url);
  halfSent.write("GET / HTTP/1.1\r\n");
  const client = await ExecClient.connect(server.url, { token: "right", resume: false });
  const child = await client.start({ argv: ["/bin/sh", "-c", "echo $$; exec sleep 300"], cwd: "/" });
  const { value } = (await child[Symbol.asyncIterator]().next()) as { value: { bytes: Buffer } };
  process.kill(server.process?.child.pid ?? 0, "SIGTERM");
  expect(await server.process?.ended).toEqual({ code: 0, signal: null });
  await gone([Number(String(value.bytes))]);
  await client.close();
});

test("SIGUSR1 opens no debugger", async () => {
  await using server = await startProgram("ours", ["--log-level", "silent"]);
  const pid = server.process?.child.pid ?? 0;
  process.kill(pid, "SIGUSR1");
  using client = await RawClient.ready(server.url);
  expect((await client.call("environment/status")).result).toEqual({ status: "ready" });
  expect(server.process?.stderrTail).not.toContain("Debugger listening");
});
