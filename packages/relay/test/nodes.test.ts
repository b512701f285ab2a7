// Several registries on one Postgres, where the two ends of a stream may be connected to different nodes.
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { PostgresServer } from "@codexkit/store/testing";
import { OwnedProcess } from "@codexkit/testing";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { authorize, dataFrame, newStreamId, randomKey, RawSocket, register } from "./raw-ends.ts";
import { ENVIRONMENT, startTestRegistry, type TestRegistry, waitForExecutor } from "./registry-fixture.ts";

import { startRegistry } from "../src/registry/index.ts";

const PROGRAM = fileURLToPath(new URL("./registry-program.ts", import.meta.url));
/** Long enough to start and restart Postgres on a busy machine. */
const SLOW = { timeout: 60_000 };
const POLL = { timeout: 20_000, interval: 50 };

let server: PostgresServer;
let location: string;
let a: TestRegistry;
let b: TestRegistry;
let executeToken: string;
let connectToken: string;

beforeAll(async () => {
  server = await PostgresServer.start();
  location = await server.createDatabase();
  a = await startTestRegistry({ store: location });
  b = await startTestRegistry({ store: location });
  executeToken = (await a.registry.tokens.create({ name: "e", scopes: ["execute"] })).token;
  connectToken = (await a.registry.tokens.create({ name: "c", scopes: ["connect"] })).token;
}, 60_000);
afterAll(async () => {
  await a[Symbol.asyncDispose]();
  await b[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Connects an executor to a node, as the only one of its environment. */
async function openExecutor(node: TestRegistry, environmentId: string) {
  const registered = await register(node.url, executeToken, { environmentId });
  const socket = await RawSocket.open(registered.url);
  await waitForExecutor(node, environmentId);
  return { registered, socket, [Symbol.asyncDispose]: () => socket[Symbol.asyncDispose]() };
}

async function openHarness(node: { readonly url: string }, environmentId: string, key = randomKey()) {
  return RawSocket.open((await authorize(node.url, connectToken, { environmentId, key })).url);
}

test(
  "frames are forwarded between nodes in both directions, in order and with back-pressure",
  SLOW,
  async () => {
    await using executor = await openExecutor(a, "both");
    await using harness = await openHarness(b, "both");
    const stream = newStreamId();
    harness.send(dataFrame(stream, "to the executor"));
    expect(String((await executor.socket.next()).payload)).toBe("to the executor");
    harness.webSocket.pause();
    const chunk = Buffer.alloc(200_000, 3);
    for (let seq = 0; seq < 150; seq += 1) executor.socket.send(dataFrame(stream, chunk, seq));
    await vi.waitFor(() => expect(executor.socket.webSocket.bufferedAmount).toBeGreaterThan(1_000_000), POLL);
    harness.webSocket.resume();
    for (let seq = 0; seq < 150; seq += 1) expect((await harness.next()).payload?.equals(chunk)).toBe(true);
    const token = await b.token("metrics");
    const metrics = await fetch(`${b.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect(await metrics.text()).toContain('codexkit_relay_sockets{end="node"} 1');
    harness.webSocket.terminate();
    expect(await executor.socket.next()).toEqual({ streamId: stream, reset: "harness_disconnected" });
  },
);

test("limits and closes of the executor's node apply to a harness at another node", SLOW, async () => {
  await using executor = await openExecutor(a, "closes");
  await using harness = await openHarness(b, "closes");
  harness.webSocket.send("text");
  expect((await harness.closed).code).toBe(1003);
  await using second = await openHarness(b, "closes");
  second.send(dataFrame("s", "x"));
  await executor.socket.next();
  executor.socket.webSocket.terminate();
  expect(await second.next()).toEqual({ streamId: "s", reset: "executor_disconnected" });
  expect((await second.closed).code).toBe(1012);
});

test("revoking a token at one node closes sockets at the other nodes", SLOW, async () => {
  await using _executor = await openExecutor(a, "revoked");
  const { token, info } = await a.registry.tokens.create({ name: "r", scopes: ["connect"] });
  const { url } = await authorize(b.url, token, { environmentId: "revoked" });
  await using harness = await RawSocket.open(url);
  await a.registry.tokens.revoke(info.id);
  await harness.closed;
  await expect(authorize(b.url, token, { environmentId: "revoked" })).rejects.toThrow("unauthorized");
});

test("an executor that connects to another node is disconnected from the earlier one", SLOW, async () => {
  await using executor = await openExecutor(a, "moved");
  await using harness = await openHarness(a, "moved");
  harness.send(dataFrame("s", "x"));
  await executor.socket.next();
  await using moved = await RawSocket.open(executor.registered.url.replace(a.url.slice(4), b.url.slice(4)));
  await executor.socket.closed;
  expect((await harness.closed).code).toBe(1012);
  await using again = await openHarness(a, "moved");
  again.send(dataFrame("s", "at the new node"));
  expect(String((await moved.next()).payload)).toBe("at the new node");
});

test("streams move to another node when their node is killed", SLOW, async () => {
  await using node = new OwnedProcess({
    command: process.execPath,
    args: [
      "--conditions=codexkit:source",
      PROGRAM,
      "serve",
      "--store",
      location,
      "--listen",
      "127.0.0.1:0",
      "--log-level",
      "silent",
    ],
    env: process.env,
  });
  const [line] = (await once(node.child.stdout, "data")) as [Buffer];
  const url = String(line).trim();
  await using executor = await openExecutor({ ...a, url }, "killed");
  await using atOther = await openHarness(b, "killed");
  await using atSame = await openHarness({ url }, "killed");
  for (const harness of [atOther, atSame]) {
    harness.send(dataFrame(newStreamId(), "x"));
    await executor.socket.next();
  }
  await node.stop("SIGKILL");
  await Promise.all([executor.socket.closed, atOther.closed, atSame.closed]);
  // The executor's URL is that of a load balancer, which now forwards to the remaining node.
  await using moved = await RawSocket.open(executor.registered.url.replace(url.slice(4), b.url.slice(4)));
  const harness = await vi.waitFor(() => openHarness(a, "killed"), POLL);
  harness.send(dataFrame("s", "again"));
  expect(String((await moved.next()).payload)).toBe("again");
  await harness[Symbol.asyncDispose]();
});

test("audit events are logged at every level", SLOW, async () => {
  const lines: string[] = [];
  const logger = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
  await using _registry = await startRegistry({ store: location, port: 0, logger });
  expect(lines.join("")).toContain('"audit":"node.started"');
});

test(
  "streams continue while Postgres is down, and harnesses can connect again afterwards",
  SLOW,
  async () => {
    await using executor = await openExecutor(a, ENVIRONMENT);
    await using harness = await openHarness(b, ENVIRONMENT);
    harness.send(dataFrame("s", "before"));
    await executor.socket.next();
    await server.kill();
    harness.send(dataFrame("s", "while it is down"));
    expect(String((await executor.socket.next()).payload)).toBe("while it is down");
    await vi.waitFor(async () => expect((await fetch(`${a.url}/readyz`)).status).toBe(503), POLL);
    expect((await fetch(`${a.url}/healthz`)).status).toBe(200);
    await server.restart();
    await using second = await vi.waitFor(() => openHarness(b, ENVIRONMENT), POLL);
    second.send(dataFrame("t", "after"));
    expect(String((await executor.socket.next()).payload)).toBe("after");
    harness.send(dataFrame("s", "still the same stream"));
    expect(String((await executor.socket.next()).payload)).toBe("still the same stream");
  },
);
