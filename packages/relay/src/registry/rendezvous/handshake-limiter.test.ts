// Harnesses that claim streams without ever completing a handshake, at a rendezvous with an executor that closes its connection
// after 8 failures, as Codex's does.
import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  authorize,
  dataFrame,
  newStreamId,
  randomKey,
  RawSocket,
  register,
  resetFrame,
} from "../../../test/raw-ends.ts";
import { startTestRegistry, waitForExecutor } from "../../../test/registry-fixture.ts";
import { encodeFrame } from "../../frames/encode-frame.ts";
import type { FrameBody } from "../../frames/frame.ts";
import type { RegistryLimits } from "../limits.ts";

/** Failures after which Codex's executor closes its connection. */
const FATAL_FAILURES = 8;

const encode = (streamId: string, body: FrameBody): Uint8Array =>
  encodeFrame({ streamId, ack: 0, ackBits: 0, body });
const handshake = (streamId: string): Uint8Array =>
  encode(streamId, { kind: "handshake", payload: randomBytes(100) });
const resume = (streamId: string): Uint8Array => encode(streamId, { kind: "resume", nextSeq: 0 });

async function openEnds(limits: Partial<RegistryLimits> = {}) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const registry = stack.use(await startTestRegistry({ limits }));
  const { url } = await register(registry.url, await registry.token("execute"));
  const executor = stack.use(await RawSocket.open(url));
  await waitForExecutor(registry);
  const metricsToken = await registry.token("metrics");
  return {
    executor,
    newToken: () => registry.token("connect"),
    harness: async (token: string) =>
      stack.use(await RawSocket.open((await authorize(registry.url, token, { key: randomKey() })).url)),
    refusals: async (reason: string): Promise<number> => {
      const headers = { authorization: `Bearer ${metricsToken}` };
      const text = await (await fetch(`${registry.url}/metrics`, { headers })).text();
      const line = text.split("\n").find((each) => each.includes(`reason="${reason}"`));
      return Number(line?.split(" ").at(-1) ?? 0);
    },
  };
}

/** An executor that resets each handshake. Returns how many frames of each stream it has received. */
function refuseAll(executor: RawSocket): Map<string, number> {
  const received = new Map<string, number>();
  void (async () => {
    for (;;) {
      const { streamId, reset } = await executor.next();
      if (reset !== undefined) continue;
      received.set(streamId, (received.get(streamId) ?? 0) + 1);
      executor.send(resetFrame(streamId, "refused"));
    }
  })().catch(() => {});
  return received;
}

const total = (counts: Map<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

test("one token can't fail enough handshakes to make the executor close its connection", async () => {
  const { executor, harness, newToken, refusals } = await openEnds();
  const received = refuseAll(executor);
  const token = await newToken();
  const sockets = await Promise.all(Array.from({ length: 4 }, () => harness(token)));
  for (const socket of sockets) {
    for (let index = 0; index < 8; index++) socket.send(handshake(newStreamId()));
  }
  for (const socket of sockets) expect((await socket.closed).code).toBe(1008);
  expect(await refusals("failed_handshakes")).toBe(4);
  const late = await harness(token);
  late.send(handshake(newStreamId()));
  expect((await late.closed).code).toBe(1008);
  expect(total(received)).toBeLessThan(FATAL_FAILURES);
});

test("one stream can't fail several handshakes before the first answer", async () => {
  const { executor, harness, newToken } = await openEnds();
  const socket = await harness(await newToken());
  for (let index = 0; index < 20; index++) socket.send(handshake("s"));
  await executor.next();
  executor.webSocket.ping();
  await new Promise((resolve) => executor.webSocket.once("pong", resolve));
  expect(executor.unread + 1).toBeLessThan(FATAL_FAILURES);
});

test("a token whose harnesses disconnect before the answer is limited, too", async () => {
  const { executor, harness, newToken } = await openEnds();
  const token = await newToken();
  let seen = 0;
  void (async () => {
    for (;;) if ((await executor.next()).reset === undefined) seen++;
  })().catch(() => {});
  for (let index = 0; index < 12; index++) {
    const socket = await harness(token);
    await new Promise((resolve) => socket.webSocket.send(handshake(newStreamId()), resolve));
    socket.webSocket.close();
    await socket.closed;
  }
  const other = await harness(await newToken());
  other.send(handshake("other"));
  await vi.waitFor(() => expect(seen).toBeGreaterThan(0));
  expect(seen).toBeLessThan(FATAL_FAILURES);
});

test("failures of one token don't affect the streams of another one, nor its own established ones", async () => {
  const { executor, harness, newToken } = await openEnds();
  const [bad, good] = [await newToken(), await newToken()];
  const established = await harness(bad);
  established.send(handshake("established"));
  await executor.next();
  executor.send(dataFrame("established", "welcome"));
  await established.next();
  for (let index = 0; index < 4; index++) {
    const socket = await harness(bad);
    socket.send(handshake(`bad ${index}`));
    expect((await executor.next()).streamId).toBe(`bad ${index}`);
    executor.send(resetFrame(`bad ${index}`, "refused"));
    expect((await socket.next()).reset).toBe("refused");
  }
  established.send(dataFrame("established", "still here"));
  expect(String((await executor.next()).payload)).toBe("still here");
  const other = await harness(good);
  other.send(handshake("good"));
  expect((await executor.next()).streamId).toBe("good");
});

test("failures are forgotten after a while", async () => {
  const { executor, harness, newToken } = await openEnds({ handshakesPerToken: 1, failedHandshakesMs: 50 });
  refuseAll(executor);
  const token = await newToken();
  const attempt = async (): Promise<string> => {
    const socket = await harness(token);
    socket.send(handshake(newStreamId()));
    return Promise.race([
      socket.next().then(({ reset }) => reset ?? ""),
      socket.closed.then(({ code }) => String(code)),
    ]).catch(() => "closed");
  };
  expect(await attempt()).toBe("refused");
  await vi.waitFor(async () => expect(await attempt()).toBe("refused"), { timeout: 10_000 });
});

test("streams without a handshake take up a few places only, and not for ever", async () => {
  const { executor, harness, newToken, refusals } = await openEnds({ handshakeMs: 500 });
  const flood = await harness(await newToken());
  for (let index = 0; index < 1000; index++) flood.send(resume(`s${index}`));
  const other = await harness(await newToken());
  other.send(handshake("honest"));
  let before = 0;
  while ((await executor.next()).streamId !== "honest") before++;
  expect(before).toBe(4);
  executor.send(dataFrame("honest", "welcome"));
  expect(String((await other.next()).payload)).toBe("welcome");
  expect(await flood.next()).toEqual({ streamId: "s0", reset: "handshake_timeout" });
  expect(await refusals("handshake_timeout")).toBeGreaterThan(0);
  // The established stream has no deadline.
  await flood.next();
  executor.send(dataFrame("honest", "still here"));
  expect(String((await other.next()).payload)).toBe("still here");
});

test("many harnesses of one token connect, a few at a time", async () => {
  const { executor, harness, newToken } = await openEnds();
  const token = await newToken();
  const sockets = await Promise.all(Array.from({ length: 40 }, () => harness(token)));
  void (async () => {
    const open = new Set<string>();
    for (;;) {
      const { streamId } = await executor.next();
      if (!open.has(streamId)) setTimeout(() => executor.send(dataFrame(streamId, "welcome")), 5);
      open.add(streamId);
    }
  })().catch(() => {});
  for (const [index, socket] of sockets.entries()) {
    socket.send(resume(`s${index}`));
    socket.send(handshake(`s${index}`));
  }
  for (const [index, socket] of sockets.entries()) {
    expect(await socket.next()).toMatchObject({ streamId: `s${index}`, payload: Buffer.from("welcome") });
  }
});

test("a second handshake on an established stream, and frames that the executor can't decode, close the socket", async () => {
  const { executor, harness, newToken } = await openEnds();
  const token = await newToken();
  const repeated = await harness(token);
  repeated.send(handshake("s"));
  await executor.next();
  executor.send(dataFrame("s", "welcome"));
  await repeated.next();
  repeated.send(handshake("s"));
  expect((await repeated.closed).code).toBe(1002);
  const malformed = await harness(token);
  // A stream ID, but no version and no body.
  malformed.send(Buffer.from([0x12, 1, 0x61]));
  expect((await malformed.closed).code).toBe(1002);
  expect(await executor.next()).toEqual({ streamId: "s", reset: "harness_disconnected" });
  expect(executor.unread).toBe(0);
});
