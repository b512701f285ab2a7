// Real sockets connected to a registry: what a rendezvous forwards, and what it refuses.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  authorize,
  dataFrame,
  newStreamId,
  post,
  randomKey,
  RawSocket,
  register,
  resetFrame,
} from "../../../test/raw-ends.ts";
import {
  ENVIRONMENT,
  startTestRegistry,
  type TestRegistry,
  waitForExecutor,
} from "../../../test/registry-fixture.ts";
import type { RegistryLimits } from "../limits.ts";
import type { RegistryInternals } from "../start-registry.ts";

interface Ends {
  readonly registry: TestRegistry;
  readonly executor: RawSocket;
  readonly executeToken: string;
  readonly connectToken: string;
  /** Connects another harness. */
  harness(options?: { token?: string; key?: ReturnType<typeof randomKey> }): Promise<RawSocket>;
  metrics(): Promise<string>;
}

async function openEnds(
  limits: Partial<RegistryLimits> = {},
  internals: RegistryInternals = {},
): Promise<Ends> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const registry = stack.use(await startTestRegistry({ limits }, internals));
  const executeToken = await registry.token("execute");
  const connectToken = await registry.token("connect");
  const metricsToken = await registry.token("metrics");
  const { url } = await register(registry.url, executeToken);
  const executor = stack.use(await RawSocket.open(url));
  await waitForExecutor(registry);
  return {
    registry,
    executor,
    executeToken,
    connectToken,
    harness: async ({ token = connectToken, key = randomKey() } = {}) =>
      stack.use(await RawSocket.open((await authorize(registry.url, token, { key })).url)),
    metrics: async () => {
      const response = await fetch(`${registry.url}/metrics`, {
        headers: { authorization: `Bearer ${metricsToken}` },
      });
      return response.text();
    },
  };
}

async function refusals(ends: Ends, reason: string): Promise<number> {
  const line = (await ends.metrics()).split("\n").find((text) => text.includes(`reason="${reason}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

describe("streams", () => {
  test("carry frames in both directions, unchanged and in order, for the harness that claimed them", async () => {
    const ends = await openEnds();
    const [first, second] = [await ends.harness(), await ends.harness()];
    const [a, b] = [newStreamId(), newStreamId()];
    first.send(dataFrame(a, "from first"));
    expect(await ends.executor.next()).toEqual({ streamId: a, payload: Buffer.from("from first") });
    second.send(dataFrame(b, "from second"));
    expect(await ends.executor.next()).toEqual({ streamId: b, payload: Buffer.from("from second") });
    const large = Buffer.alloc(200_000, 7);
    for (let seq = 0; seq < 50; seq += 1) {
      ends.executor.send(dataFrame(a, large, seq));
      ends.executor.send(dataFrame(b, `to second ${seq}`, seq));
    }
    for (let seq = 0; seq < 50; seq += 1) {
      expect((await first.next()).payload?.equals(large)).toBe(true);
      expect(String((await second.next()).payload)).toBe(`to second ${seq}`);
    }
    const metrics = await ends.metrics();
    expect(metrics).toContain('codexkit_relay_frames_total{direction="to_harness"} 100');
    expect(metrics).toContain('codexkit_relay_sockets{end="harness"} 2');
    expect(metrics).toContain("codexkit_relay_streams 2");
    expect(metrics).not.toContain(ENVIRONMENT);
  });

  test("can't be taken over, not even by another harness with the same token", async () => {
    const ends = await openEnds();
    const [owner, thief] = [await ends.harness(), await ends.harness()];
    const stream = newStreamId();
    owner.send(dataFrame(stream, "mine"));
    await ends.executor.next();
    thief.send(dataFrame(stream, "stolen"));
    expect(await thief.next()).toEqual({ streamId: stream, reset: "foreign_stream" });
    ends.executor.send(dataFrame(stream, "answer"));
    expect(String((await owner.next()).payload)).toBe("answer");
    expect(await refusals(ends, "foreign_stream")).toBe(1);
  });

  test("move to the new socket of the same harness, without a reset", async () => {
    const ends = await openEnds();
    const key = randomKey();
    const stream = newStreamId();
    const before = await ends.harness({ key });
    before.send(dataFrame(stream, "1"));
    await ends.executor.next();
    const after = await ends.harness({ key });
    after.send(dataFrame(stream, "2"));
    await before.closed;
    expect(String((await ends.executor.next()).payload)).toBe("2");
    ends.executor.send(dataFrame(stream, "3"));
    expect(String((await after.next()).payload)).toBe("3");
    after.send(dataFrame(stream, "4"));
    expect(String((await ends.executor.next()).payload)).toBe("4");
  });

  test("are reset at the executor when their harness disconnects", async () => {
    const ends = await openEnds();
    const harness = await ends.harness();
    const [a, b] = [newStreamId(), newStreamId()];
    for (const stream of [a, b]) {
      harness.send(dataFrame(stream, "x"));
      await ends.executor.next();
    }
    harness.webSocket.terminate();
    expect(await ends.executor.next()).toEqual({ streamId: a, reset: "harness_disconnected" });
    expect(await ends.executor.next()).toEqual({ streamId: b, reset: "harness_disconnected" });
    ends.executor.send(dataFrame(a, "late"));
    await vi.waitFor(async () => expect(await refusals(ends, "unknown_stream")).toBe(1));
  });

  test("are reset at their harnesses when the executor disconnects, and the environment is offline", async () => {
    const ends = await openEnds();
    const harness = await ends.harness();
    const stream = newStreamId();
    harness.send(dataFrame(stream, "x"));
    await ends.executor.next();
    ends.executor.webSocket.terminate();
    expect(await harness.next()).toEqual({ streamId: stream, reset: "executor_disconnected" });
    expect((await harness.closed).code).toBe(1012);
    await vi.waitFor(async () => {
      const path = `/cloud/environment/${ENVIRONMENT}/connect`;
      const answer = await post(ends.registry.url, path, ends.connectToken, {
        harness_public_key: randomKey(),
      });
      expect([answer.status, answer.body.error?.code]).toEqual([409, "environment_offline"]);
    });
  });

  test("free their ID when either end resets them", async () => {
    const ends = await openEnds({ streamsPerEnvironment: 1 });
    const harness = await ends.harness();
    const first = newStreamId();
    harness.send(dataFrame(first, "x"));
    expect((await ends.executor.next()).streamId).toBe(first);
    harness.send(resetFrame(first, "over"));
    expect(await ends.executor.next()).toEqual({ streamId: first, reset: "over" });
    const second = newStreamId();
    harness.send(dataFrame(second, "x"));
    expect((await ends.executor.next()).streamId).toBe(second);
    ends.executor.send(resetFrame(second, "over"));
    expect(await harness.next()).toEqual({ streamId: second, reset: "over" });
    const [last, refused] = [newStreamId(), newStreamId()];
    harness.send(dataFrame(last, "x"));
    harness.send(dataFrame(refused, "x"));
    expect((await ends.executor.next()).streamId).toBe(last);
    expect(await harness.next()).toEqual({ streamId: refused, reset: "too_many_streams" });
  });
});

describe("executors", () => {
  test("replace their own earlier socket, which may be half-open", async () => {
    const ends = await openEnds();
    const key = randomKey();
    const first = await register(ends.registry.url, ends.executeToken, { key });
    await using before = await RawSocket.open(first.url);
    await using after = await RawSocket.open(first.url);
    await before.closed;
    const again = await register(ends.registry.url, ends.executeToken, { key });
    expect(again.registrationId).toBe(first.registrationId);
    expect(again.url).not.toBe(first.url);
    await vi.waitFor(async () => {
      expect((await authorize(ends.registry.url, ends.connectToken)).registrationId).toBe(
        first.registrationId,
      );
    });
    const harness = await ends.harness();
    harness.send(dataFrame("s", "x"));
    expect((await after.next()).streamId).toBe("s");
  });

  test("don't affect streams of other executors, and new harnesses are connected to the newest executor", async () => {
    const ends = await openEnds();
    const old = await ends.harness();
    old.send(dataFrame("old", "x"));
    await ends.executor.next();
    const second = await register(ends.registry.url, ends.executeToken);
    await using executor = await RawSocket.open(second.url);
    await vi.waitFor(async () => {
      expect((await authorize(ends.registry.url, ends.connectToken)).registrationId).toBe(
        second.registrationId,
      );
    });
    const fresh = await ends.harness();
    fresh.send(dataFrame("new", "x"));
    expect((await executor.next()).streamId).toBe("new");
    // Streams of different executors may have the same ID.
    fresh.send(dataFrame("old", "x"));
    expect((await executor.next()).streamId).toBe("old");
    ends.executor.send(dataFrame("old", "still here"));
    expect(String((await old.next()).payload)).toBe("still here");
  });

  test("are limited per environment", async () => {
    const ends = await openEnds({ executorsPerEnvironment: 1 });
    const body = { security_profile: "noise_hybrid_ik_v1", executor_public_key: randomKey() };
    const answer = await post(
      ends.registry.url,
      `/cloud/environment/${ENVIRONMENT}/register`,
      ends.executeToken,
      body,
    );
    expect([answer.status, answer.body.error?.code]).toEqual([429, "too_many_executors"]);
  });
});

describe("a socket is refused", () => {
  test("without a ticket, with an invalid or used one, with a ticket for the other end, and from a web page", async () => {
    const ends = await openEnds();
    const base = ends.registry.url.replace("http", "ws");
    const { url } = await authorize(ends.registry.url, ends.connectToken);
    const { url: executorUrl } = await register(ends.registry.url, ends.executeToken);
    const swapped = url.replace("/harness", "/executor");
    for (const wrong of [
      `${base}/rendezvous/harness`,
      `${base}/rendezvous/harness?ticket=x`,
      `${url}x`,
      swapped,
      executorUrl.replace("/executor", "/harness"),
      `${base}/rendezvous/node`,
    ]) {
      await expect(RawSocket.open(wrong)).rejects.toThrow("401");
    }
    await expect(RawSocket.open(`${base}/rendezvous/other`)).rejects.toThrow("404");
    await expect(RawSocket.open(url, { origin: "https://page.example" })).rejects.toThrow("403");
    await using _harness = await RawSocket.open(url);
    await expect(RawSocket.open(url)).rejects.toThrow("401");
  });

  test("after its ticket has expired, so that an executor registers again", async () => {
    const ends = await openEnds({ authorizationMs: 1 });
    const { url } = await authorize(ends.registry.url, ends.connectToken);
    await expect(RawSocket.open(url)).rejects.toThrow("401");
    await using registry = await startTestRegistry({ limits: { executorTicketMs: 1 } });
    const registered = await register(registry.url, await registry.token("execute"));
    await expect(RawSocket.open(registered.url)).rejects.toThrow("401");
  });

  test("beyond the number of harnesses", async () => {
    const ends = await openEnds({ harnessesPerEnvironment: 1 });
    await ends.harness();
    await expect(ends.harness()).rejects.toThrow("429");
    expect(await refusals(ends, "too_many_connections")).toBe(1);
  });

  test("after too many invalid tickets from one address, while valid tickets are accepted", async () => {
    const ends = await openEnds({ failuresPerMinute: 2 });
    const wrong = `${ends.registry.url.replace("http", "ws")}/rendezvous/harness?ticket=x`;
    await expect(RawSocket.open(wrong)).rejects.toThrow("401");
    await expect(RawSocket.open(wrong)).rejects.toThrow("401");
    await expect(RawSocket.open(wrong)).rejects.toThrow("429");
    await ends.harness();
  });
});

describe("a socket is closed", () => {
  test("for text, for malformed frames, and for frames that are too large", async () => {
    const ends = await openEnds();
    const cases: [reason: string, code: number, message: string | Uint8Array][] = [
      ["text_message", 1003, "text"],
      ["malformed_frame", 1002, Buffer.from("not protobuf")],
      ["bad_websocket", 1009, dataFrame("s", Buffer.alloc(256 * 1024))],
    ];
    for (const [reason, code, message] of cases) {
      const harness = await ends.harness();
      harness.webSocket.send(message);
      expect((await harness.closed).code).toBe(code);
      expect(await refusals(ends, reason)).toBe(1);
    }
    ends.executor.webSocket.send("text");
    expect((await ends.executor.closed).code).toBe(1003);
  });

  test("when its token is revoked", async () => {
    const ends = await openEnds();
    const { token, info } = await ends.registry.registry.tokens.create({
      name: "revoked",
      scopes: ["connect"],
      environmentId: ENVIRONMENT,
    });
    const [revoked, other] = [await ends.harness({ token }), await ends.harness()];
    const unused = await authorize(ends.registry.url, token);
    await ends.registry.registry.tokens.revoke(info.id);
    expect((await revoked.closed).code).toBe(1008);
    await expect(RawSocket.open(unused.url)).rejects.toThrow("401");
    other.send(dataFrame("s", "x"));
    expect((await ends.executor.next()).streamId).toBe("s");
    const executor = (await ends.registry.registry.tokens.list()).find(({ scopes }) =>
      scopes.includes("execute"),
    );
    await ends.registry.registry.tokens.revoke(executor?.id ?? "");
    expect((await ends.executor.closed).code).toBe(1008);
  });

  test("when its token expires", async () => {
    const ends = await openEnds({ leaseMs: 200 });
    const { token } = await ends.registry.registry.tokens.create({
      name: "short",
      scopes: ["connect"],
      environmentId: ENVIRONMENT,
      validForMs: 2_000,
    });
    const harness = await ends.harness({ token });
    expect((await harness.closed).code).toBe(1008);
  });

  test("when its harness sends nothing for too long", async () => {
    const ends = await openEnds({ idleMs: 50 });
    const harness = await ends.harness();
    expect((await harness.closed).code).toBe(1001);
    expect(await refusals(ends, "idle")).toBe(1);
    ends.executor.webSocket.ping();
    await once(ends.executor.webSocket, "pong");
  });

  test("when its peer no longer answers pings", async () => {
    const ends = await openEnds({ pingMs: 50 });
    const silent = await ends.harness();
    silent.webSocket.pause();
    await vi.waitFor(async () => expect(await refusals(ends, "silent")).toBe(1));
    ends.executor.webSocket.ping();
    await once(ends.executor.webSocket, "pong");
  });
});

describe("a slow or flooding peer", () => {
  test("that never reads is closed, and other streams continue", async () => {
    const ends = await openEnds({ bufferedBytes: 64 * 1024, stallMs: 100 });
    const [stuck, other] = [await ends.harness(), await ends.harness()];
    const [a, b] = [newStreamId(), newStreamId()];
    stuck.send(dataFrame(a, "x"));
    other.send(dataFrame(b, "x"));
    await ends.executor.next();
    await ends.executor.next();
    stuck.webSocket.pause();
    const chunk = Buffer.alloc(200_000);
    // More than the buffers of the system can hold.
    for (let index = 0; index < 200; index += 1) ends.executor.send(dataFrame(a, chunk));
    ends.executor.send(dataFrame(b, "after"));
    expect(String((await other.next()).payload)).toBe("after");
    expect(await refusals(ends, "slow_reader")).toBe(1);
    expect(await ends.executor.next()).toEqual({ streamId: a, reset: "harness_disconnected" });
  });

  test("that reads slowly slows the sender down, and loses nothing", async () => {
    const ends = await openEnds({ bufferedBytes: 64 * 1024 });
    const harness = await ends.harness();
    harness.send(dataFrame("s", "x"));
    await ends.executor.next();
    harness.webSocket.pause();
    const chunk = Buffer.alloc(200_000, 1);
    const count = 150;
    for (let seq = 0; seq < count; seq += 1) ends.executor.send(dataFrame("s", chunk, seq));
    // The rendezvous buffers 64 KiB, in addition to the system's buffers. The rest is not sent yet.
    await vi.waitFor(() => expect(ends.executor.webSocket.bufferedAmount).toBeGreaterThan(1_000_000));
    harness.webSocket.resume();
    for (let seq = 0; seq < count; seq += 1) expect((await harness.next()).payload?.length).toBe(200_000);
    expect(await refusals(ends, "slow_reader")).toBe(0);
  });

  test("that floods an executor is paused while the executor does not read, until that is closed", async () => {
    const ends = await openEnds({ bufferedBytes: 64 * 1024, stallMs: 200 });
    const harness = await ends.harness();
    harness.send(dataFrame("s", "x"));
    await ends.executor.next();
    ends.executor.send(dataFrame("s", "accepted"));
    await harness.next();
    ends.executor.webSocket.pause();
    const chunk = Buffer.alloc(200_000);
    for (let index = 0; index < 200; index += 1) harness.send(dataFrame("s", chunk));
    expect((await harness.closed).code).toBe(1012);
    expect(await refusals(ends, "slow_reader")).toBe(1);
  });

  test("that sends pings without reading receives a limited number of pongs, and can continue", async () => {
    const ends = await openEnds();
    const harness = await ends.harness();
    const { webSocket } = harness;
    let pongs = 0;
    webSocket.on("pong", () => (pongs += 1));
    webSocket.pause();
    // More than the buffers of both kernels and of the registry can hold.
    const pings = 120_000;
    for (let ping = 0; ping < pings; ping++) webSocket.ping(Buffer.alloc(125));
    await vi.waitFor(() => expect(webSocket.bufferedAmount).toBe(0), { timeout: 30_000 });
    webSocket.resume();
    webSocket.send(dataFrame("s", "after the pings"));
    expect(String((await ends.executor.next()).payload)).toBe("after the pings");
    ends.executor.send(dataFrame("s", "after the pongs"));
    await harness.next();
    expect(pongs).toBeLessThan(pings);
  });

  test("that is refused repeatedly without reading is closed", { timeout: 60_000 }, async () => {
    const ends = await openEnds({ streamsPerEnvironment: 1, stallMs: 100 });
    const { webSocket, closed } = await ends.harness();
    webSocket.send(dataFrame("first", "x"));
    await ends.executor.next();
    webSocket.pause();
    for (let stream = 0; webSocket.readyState === webSocket.OPEN; stream++) {
      const frame = dataFrame(String(stream).padEnd(128), "x");
      // Sends as fast as the registry reads.
      if (stream % 1000 === 0) await new Promise((resolve) => webSocket.send(frame, resolve));
      else webSocket.send(frame);
    }
    await closed;
    expect(await refusals(ends, "slow_reader")).toBe(1);
  });

  test("is not read while its environment exceeds the rate, and other environments continue", async () => {
    const ends = await openEnds({ bytesPerSecond: 1 });
    const harness = await ends.harness();
    harness.send(dataFrame("s", Buffer.alloc(100_000)));
    expect((await ends.executor.next()).payload).toHaveLength(100_000);
    harness.send(dataFrame("s", "late"));
    const environmentId = "other";
    const token = await ends.registry.token("execute", environmentId);
    await using other = await RawSocket.open(
      (await register(ends.registry.url, token, { environmentId })).url,
    );
    await waitForExecutor(ends.registry, environmentId);
    const otherToken = await ends.registry.token("connect", environmentId);
    const { url } = await authorize(ends.registry.url, otherToken, { environmentId });
    await using second = await RawSocket.open(url);
    second.send(dataFrame("t", "x"));
    expect((await other.next()).streamId).toBe("t");
    expect(ends.executor.unread).toBe(0);
  });

  test("can't block other clients with a thousand half-open upgrades", { timeout: 60_000 }, async () => {
    const ends = await openEnds({ headersMs: 1_500 });
    const { port } = new URL(ends.registry.url);
    const sockets: Socket[] = [];
    const opened: Promise<unknown>[] = [];
    const closed: Promise<unknown>[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (let index = 0; index < 1000; index += 1) {
      const socket = connect(Number(port), "127.0.0.1");
      // The server may reset a connection that it closes.
      socket.on("error", () => {});
      socket.write("GET /rendezvous/harness?ticket=x HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n");
      sockets.push(socket);
      opened.push(once(socket, "connect"));
      closed.push(new Promise((resolve) => socket.once("close", resolve)));
    }
    await Promise.all(opened);
    const harness = await ends.harness();
    harness.send(dataFrame("s", "x"));
    expect((await ends.executor.next()).streamId).toBe("s");
    for (const socket of sockets) socket.resume();
    await Promise.all(closed);
  });
});

test("a frame filter simulates a bad link", async () => {
  const seen: string[] = [];
  const ends = await openEnds(
    {},
    {
      frameFilter: (frame, direction, deliver) => {
        seen.push(direction);
        if (direction === "to_harness") return deliver(frame);
        if (seen.length === 1) return;
        deliver(frame);
        deliver(frame);
      },
    },
  );
  const harness = await ends.harness();
  harness.send(dataFrame("s", "dropped"));
  harness.send(dataFrame("s", "doubled"));
  expect(String((await ends.executor.next()).payload)).toBe("doubled");
  expect(String((await ends.executor.next()).payload)).toBe("doubled");
  ends.executor.send(dataFrame("s", "kept"));
  expect(String((await harness.next()).payload)).toBe("kept");
  expect(seen).toEqual(["to_executor", "to_executor", "to_harness"]);
});

test("a registry that closes disconnects all ends, also unresponsive ones, and records it", async () => {
  await using registry = await startTestRegistry();
  const executeToken = await registry.token("execute");
  const { url } = await register(registry.url, executeToken);
  await using executor = await RawSocket.open(url);
  await waitForExecutor(registry);
  const { url: harnessUrl } = await authorize(registry.url, await registry.token("connect"));
  await using harness = await RawSocket.open(harnessUrl);
  harness.send(dataFrame("s", "x"));
  await executor.next();
  harness.webSocket.pause();
  const closing = registry.registry.close();
  expect((await executor.closed).code).toBe(1001);
  await closing;
  harness.webSocket.resume();
  await harness.closed;
  const events = registry.audit.map((line) => (JSON.parse(line) as { audit: string }).audit);
  expect(events.slice(-3)).toEqual(["executor.disconnected", "harness.disconnected", "node.stopped"]);
});

test("a registry that closes refuses new connections before it disconnects harnesses", async () => {
  const ends = await openEnds();
  const harness = await ends.harness();
  harness.send(dataFrame(newStreamId(), "begun"));
  await ends.executor.next();
  const attempt = Promise.withResolvers<unknown>();
  harness.webSocket.once("message", () => {
    const { port, hostname } = new URL(ends.registry.url);
    const again = connect(Number(port), hostname, () => attempt.resolve("connected"));
    again.once("error", (error) => attempt.resolve(error));
  });
  await ends.registry.registry.close();
  // Codex's harness retries only after this error.
  expect(await attempt.promise).toMatchObject({ code: "ECONNREFUSED" });
});
