import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { repetitions } from "@codexkit/testing";
import { faultyLink, seededRandom } from "./faulty-link.ts";
import { type MemoryChannel, memoryChannelPair } from "./memory-channel.ts";
import { Inbox, REGISTRATION_ID, streamPair, testAcceptor } from "./stream-pair.ts";
import { RelayError } from "../src/errors.ts";
import { decodeFrame } from "../src/frames/decode-frame.ts";
import { encodeFrame } from "../src/frames/encode-frame.ts";
import type { RelayStream } from "../src/stream/relay-stream.ts";

const MIB = 1024 * 1024;

afterEach(() => {
  vi.useRealTimers();
});

/** Exchanges the first messages, which negotiate the extension. */
async function initialize(harness: RelayStream, executor: RelayStream): Promise<[Inbox, Inbox]> {
  const [near, far] = [new Inbox(harness), new Inbox(executor)];
  void harness.send('{"id":1,"method":"initialize"}');
  await far.count(1);
  void executor.send('{"id":1,"result":{}}');
  await near.count(1);
  near.messages.length = 0;
  far.messages.length = 0;
  return [near, far];
}

/** Sends pseudo-random messages of many sizes, at the receiver's pace, and returns their digest. */
async function sendMegabytes(stream: RelayStream, megabytes: number, seed: number): Promise<string> {
  const random = seededRandom(seed);
  const digest = createHash("sha256");
  for (let sent = 0; sent < megabytes * MIB;) {
    const size = random() < 0.1 ? 1 + Math.floor(random() * 300_000) : 1 + Math.floor(random() * 30_000);
    const message = Buffer.alloc(size, `${Math.floor(random() * 1e9)},`);
    digest.update(message);
    await stream.send(message);
    sent += size;
    // As in an event loop with other work.
    if (random() < 0.2) await nextTurn();
  }
  return digest.digest("hex");
}

function digestOf(stream: RelayStream): { readonly closed: Promise<string> } {
  const digest = createHash("sha256");
  return {
    closed: new Promise((resolve) => {
      stream.startBytes({
        message: (bytes) => digest.update(bytes),
        closed: () => resolve(digest.digest("hex")),
      });
    }),
  };
}

/** Short timeouts, so that tests don't have to wait for retransmissions. */
const FAST = { minRetransmitMs: 10, initialRetransmitMs: 20, ackDelayMs: 2, closeTimeoutMs: 20_000 };

describe("the reliability extension", () => {
  it("is agreed on by the first messages, which arrive without a trace of it", async () => {
    const { harness, executor } = await streamPair();
    const [near, far] = [new Inbox(harness), new Inbox(executor)];
    void harness.send('{"id":1,"method":"initialize","params":{"clientName":"é"}}');
    expect(await far.count(1)).toEqual(['{"id":1,"method":"initialize","params":{"clientName":"é"}}']);
    expect([harness.isResumable, executor.isResumable]).toEqual([false, true]);
    void executor.send(Buffer.from('{"id":1,"result":{}}'));
    expect(await near.count(1)).toEqual(['{"id":1,"result":{}}']);
    expect(harness.isResumable).toBe(true);
    await harness.close();
  });

  it.each(["harness", "executor"] as const)("is off if the %s does not want it", async (end) => {
    const { harness, executor, harnessChannel, executorChannel } = await streamPair({
      [end]: { reliability: false },
    });
    harnessChannel.isRecording = true;
    executorChannel.isRecording = true;
    const [near, far] = await initialize(harness, executor);
    void harness.send("x".repeat(200_000));
    void executor.send("y".repeat(200_000));
    await Promise.all([near.count(1), far.count(1)]);
    expect([harness.isResumable, executor.isResumable]).toEqual([false, false]);
    const frames = [...harnessChannel.sent, ...executorChannel.sent].map((frame) => decodeFrame(frame));
    for (const { ack, ackBits, body } of frames) {
      expect([ack, ackBits]).toEqual([0, 0]);
      expect(body).toMatchObject({ kind: "data", segmentIndex: 0, segmentCount: 1 });
    }
    await harness.close();
  });

  it("sends nothing but ordinary frames to an end that never answers the offer", async () => {
    const { harness, executor, harnessChannel } = await streamPair({
      executor: { reliability: false },
      harness: { limits: FAST },
    });
    harnessChannel.isRecording = true;
    const far = new Inbox(executor);
    void harness.send('{"id":1}');
    expect(await far.count(1)).toEqual(['{"codexkitRelay":{"version":1},"id":1}']);
    // Copies of the same frame, which Codex's ends ignore.
    while (harnessChannel.sent.length < 3) await nextTurn();
    expect(new Set(harnessChannel.sent.map((frame) => frame.toString("hex"))).size).toBe(1);
    await harness.close();
  });

  it.each([1, 4])("sends records that were tampered with again, of which each %i. is one", async (every) => {
    const { harness, executor, harnessChannel, counters } = await streamPair({
      harness: { limits: { ...FAST, maxRetransmitMs: 50 } },
      executor: { limits: FAST },
    });
    const [, far] = await initialize(harness, executor);
    let records = 0;
    let tampered = 0;
    harnessChannel.fault = (frame, deliver) => {
      // Only data frames are that long.
      if (frame.length > 1000 && records++ % every === 0 && tampered < 10) {
        tampered += 1;
        frame[frame.length - 1] = (frame.at(-1) ?? 0) ^ 1;
      }
      deliver(frame);
    };
    const sent = Array.from({ length: 40 }, (_, index) => `${index}`.padStart(50_000));
    for (const message of sent) void harness.send(message);
    expect(await far.count(40)).toEqual(sent);
    expect(tampered).toBe(10);
    expect(counters.framesInvalid).toBe(10);
    await harness.close();
  });

  it("ends a stream of which too many records were tampered with", async () => {
    const { harness, executor, harnessChannel } = await streamPair({
      harness: { limits: FAST },
      executor: { limits: { ...FAST, forgedRecords: 3 } },
    });
    const [, far] = await initialize(harness, executor);
    harnessChannel.fault = (frame, deliver) => {
      if (frame.length > 1000) frame[frame.length - 1] = (frame.at(-1) ?? 0) ^ 1;
      deliver(frame);
    };
    void harness.send("x".repeat(2000));
    expect(await far.closed).toMatchObject({ code: "protocol_violation" });
    expect(far.messages).toEqual([]);
  });

  it("marks the segments of large messages", async () => {
    const { harness, executor, harnessChannel } = await streamPair();
    const [, far] = await initialize(harness, executor);
    harnessChannel.isRecording = true;
    void harness.send("x".repeat(150_000));
    void harness.send("small");
    expect((await far.count(2)).map(({ length }) => length)).toEqual([150_000, 5]);
    const segments = harnessChannel.sent
      .map((frame) => decodeFrame(frame).body)
      .filter((body) => body.kind === "data")
      .map(({ segmentIndex, segmentCount }) => `${segmentIndex}/${segmentCount}`);
    expect(segments).toEqual(["0/3", "1/3", "2/3", "0/1"]);
    await harness.close();
  });

  it("detects a segment whose position was changed on the way", async () => {
    for (const [from, to] of [
      [Buffer.from([0x18, 3]), Buffer.from([0x18, 2])],
      [Buffer.from([0x10, 1, 0x18, 3]), Buffer.from([0x10, 2, 0x18, 3])],
    ] as const) {
      const { harness, executor, harnessChannel, counters } = await streamPair({
        executor: { limits: { forgedRecords: 0 } },
      });
      const [, far] = await initialize(harness, executor);
      harnessChannel.fault = (frame, deliver) => {
        const at = frame.subarray(0, 80).indexOf(from);
        if (at >= 0) to.copy(frame, at);
        deliver(frame);
      };
      void harness.send("x".repeat(150_000));
      expect(await far.closed).toMatchObject({ code: "protocol_violation" });
      expect(counters.streamsReset).toBe(1);
      await harness.close();
    }
  });

  it("delivers everything in order over a link that drops 20 %, repeats 10 % and reorders 20 % of the frames", async () => {
    const { harness, executor, harnessChannel, executorChannel, counters } = await streamPair({
      executor: { limits: FAST },
      harness: { limits: FAST },
    });
    await initialize(harness, executor);
    const rates = { drop: 0.2, duplicate: 0.1, reorder: 0.2 };
    harnessChannel.fault = faultyLink(rates, seededRandom(1));
    executorChannel.fault = faultyLink(rates, seededRandom(2));
    const received = digestOf(harness);
    const digest = await sendMegabytes(executor, repetitions({ test: 8, soak: 100 }), 3);
    void executor.close();
    expect(await received.closed).toBe(digest);
    expect(counters.framesRetransmitted).toBeGreaterThan(10);
    expect(harnessChannel.peakBytes).toBeLessThan(20 * MIB);
  }, 300_000);

  it("replaces its keys at fixed record numbers", async () => {
    const limits = { ...FAST, rekeyRecords: 4 };
    const { harness, executor, harnessChannel, executorChannel } = await streamPair({
      executor: { limits },
      harness: { limits },
    });
    const [near, far] = await initialize(harness, executor);
    const rates = { drop: 0.2, duplicate: 0.1, reorder: 0.2 };
    harnessChannel.fault = faultyLink(rates, seededRandom(4));
    executorChannel.fault = faultyLink(rates, seededRandom(5));
    const messages = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(100_000, "x"));
    for (const message of messages) for (const end of [harness, executor]) await end.send(message);
    expect(await near.count(20)).toEqual(messages);
    expect(await far.count(20)).toEqual(messages);
    await harness.close();
  });

  it("reads no record if only one end replaces its keys", async () => {
    const { harness, executor } = await streamPair({
      executor: { limits: { rekeyRecords: 4, forgedRecords: 0 } },
    });
    const [, far] = await initialize(harness, executor);
    for (let record = 1; record <= 4; record++) {
      void harness.send(`${record}`);
      harness.flush();
    }
    expect(await far.closed).toMatchObject({ code: "protocol_violation" });
    expect(far.messages).toEqual(["1", "2", "3"]);
  });

  it("replaces no keys without the agreement of both ends", async () => {
    const { harness, executor } = await streamPair({
      executor: { reliability: false },
      harness: { limits: { rekeyRecords: 4 } },
    });
    const [near, far] = await initialize(harness, executor);
    for (let record = 1; record <= 9; record++) {
      for (const end of [harness, executor]) {
        void end.send(`${record}`);
        end.flush();
      }
    }
    expect([(await near.count(9)).length, (await far.count(9)).length]).toEqual([9, 9]);
    await harness.close();
  });

  it("does not mistake its own long pause for a silent other end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { harness, executor, harnessChannel } = await streamPair();
    const [, far] = await initialize(harness, executor);
    await vi.advanceTimersByTimeAsync(600_000);
    const link = { hasDropped: false };
    harnessChannel.fault = (frame, deliver) => {
      if (link.hasDropped) deliver(frame);
      link.hasDropped = true;
    };
    void harness.send("after a long time");
    while (!link.hasDropped) await nextTurn();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await far.count(1)).toEqual(["after a long time"]);
    vi.useRealTimers();
    await harness.close();
  });

  it("ends a stream whose other end does not answer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { harness, executor, harnessChannel, executorChannel } = await streamPair();
    const [near] = await initialize(harness, executor);
    harnessChannel.fault = () => {};
    executorChannel.fault = () => {};
    void harness.send("into the void");
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    await vi.advanceTimersByTimeAsync(29_000);
    expect(near.closedCalls).toBe(0);
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    expect(await near.closed).toMatchObject({ code: "disconnected" });
  });

  it("closes once the other end has received everything", async () => {
    const { harness, executor } = await streamPair();
    const [near, far] = await initialize(harness, executor);
    for (let i = 0; i < 100; i++) void harness.send(`${i}`);
    await harness.close();
    expect(await far.closed).toBeUndefined();
    expect(far.messages).toHaveLength(100);
    expect([near.closedCalls, far.closedCalls]).toEqual([1, 1]);
  });

  it("slows a sender down whose reader is paused, without unbounded memory", async () => {
    const limits = { ...FAST, windowBytes: 256 * 1024, highWaterBytes: 64 * 1024 };
    const { harness, executor, harnessChannel } = await streamPair({
      harness: { limits },
      executor: { limits },
    });
    const [near] = await initialize(harness, executor);
    harness.pause();
    const message = "x".repeat(20_000);
    const progress = { sent: 0 };
    const sending = (async () => {
      for (; progress.sent < 200; progress.sent++) await executor.send(message);
    })();
    while (harnessChannel.waitingBytes > 0 || progress.sent < 15) await nextTurn();
    for (let turn = 0; turn < 200; turn++) await nextTurn();
    expect(progress.sent).toBeLessThan(60);
    expect(near.messages).toEqual([]);
    harness.resume();
    await sending;
    expect(await near.count(200)).toHaveLength(200);
    await harness.close();
  });
});

describe("a stream whose connection is lost", () => {
  /** A harness that gets a new connection to the same acceptor whenever it needs one. */
  async function resumablePair() {
    const reconnect = vi.fn<() => Promise<MemoryChannel>>(async () => next());
    const pair = await streamPair({ harness: { limits: FAST, reconnect }, executor: { limits: FAST } });
    const { acceptor } = pair;
    const connections: [MemoryChannel, MemoryChannel][] = [];
    function next(): MemoryChannel {
      const connection = memoryChannelPair();
      connections.push(connection);
      void acceptor.serve(connection[1], REGISTRATION_ID);
      return connection[0];
    }
    return { ...pair, connections, reconnect };
  }

  it("continues on another one and loses nothing", async () => {
    const { harness, executor, harnessChannel, executorChannel, connections, counters } =
      await resumablePair();
    await initialize(harness, executor);
    const received = digestOf(harness);
    let current: [MemoryChannel, MemoryChannel] = [harnessChannel, executorChannel];
    const sending = sendMegabytes(executor, 4, 5);
    for (let cut = 0; cut < 3; cut++) {
      for (let turn = 0; turn < 30; turn++) await nextTurn();
      // Frames in flight are lost in both directions.
      for (const end of current) end.fault = () => {};
      current[1].end(new Error("cut"));
      current[0].end(new Error("cut"));
      while (connections.length <= cut) await nextTurn();
      current = connections[cut] as [MemoryChannel, MemoryChannel];
    }
    const digest = await sending;
    void executor.close();
    expect(await received.closed).toBe(digest);
    expect(counters.streamsResumed).toBeGreaterThanOrEqual(3);
  });

  it("continues when only the executor's connection was replaced", async () => {
    const { harness, executor, harnessChannel, executorChannel, acceptor, reconnect } = await resumablePair();
    const [near, far] = await initialize(harness, executor);
    // The rendezvous keeps the harness's connection and gets another one of the executor.
    const [, executorChannel2] = memoryChannelPair();
    executorChannel2.peer = harnessChannel;
    harnessChannel.peer = executorChannel2;
    void executor.send("before");
    executorChannel.end();
    void executor.send("after");
    void acceptor.serve(executorChannel2, REGISTRATION_ID);
    expect(await near.count(2)).toEqual(["before", "after"]);
    void harness.send("answer");
    expect(await far.count(1)).toEqual(["answer"]);
    expect(reconnect).not.toHaveBeenCalled();
    await harness.close();
  });

  it("is not ended by a reset, which a rendezvous can forge", async () => {
    const { harness, executor, harnessChannel, executorChannel } = await resumablePair();
    const [near, far] = await initialize(harness, executor);
    const { streamId } = harness;
    const body = { kind: "reset", reason: "because" } as const;
    const reset = Buffer.from(encodeFrame({ streamId, ack: 0, ackBits: 0, body }));
    harnessChannel.deliver(reset);
    executorChannel.deliver(reset);
    void executor.send("one");
    void harness.send("two");
    expect([await near.count(1), await far.count(1)]).toEqual([["one"], ["two"]]);
    await harness.close();
  });

  it("ends early if the executor has restarted with the same key", async () => {
    const restarted = testAcceptor();
    const reconnect = vi.fn<() => Promise<MemoryChannel>>(async () => {
      const [near, far] = memoryChannelPair();
      void restarted.acceptor.serve(far, REGISTRATION_ID);
      return near;
    });
    const limits = { ...FAST, resumeRetryMs: 5, resumeTimeoutMs: 600_000 };
    const pair = await streamPair({ harness: { limits, reconnect } });
    const [near] = await initialize(pair.harness, pair.executor);
    void pair.harness.send("lost");
    pair.harnessChannel.end();
    expect(await near.closed).toMatchObject({ code: "disconnected" });
    expect(reconnect).toHaveBeenCalledTimes(2);
  });

  it("ends at both ends when the time for its resumption has passed", async () => {
    const refuse = async () => {
      throw new RelayError("connect_failed", "The rendezvous could not be reached.");
    };
    const limits = { ...FAST, resumeTimeoutMs: 50, resumeRetryMs: 5 };
    const { harness, executor, harnessChannel, executorChannel, acceptor } = await streamPair({
      harness: { limits, reconnect: refuse },
      executor: { limits },
    });
    const [near, far] = await initialize(harness, executor);
    harnessChannel.end();
    executorChannel.end();
    expect(await near.closed).toMatchObject({ code: "disconnected" });
    expect(await far.closed).toMatchObject({ code: "disconnected" });
    expect(acceptor.activeStreams).toBe(0);
  });

  it("ends immediately if a new connection is refused permanently", async () => {
    const { harness, executor, harnessChannel } = await streamPair({
      harness: {
        reconnect: async () => {
          throw new RelayError("unauthorized", "No.");
        },
      },
    });
    const [near] = await initialize(harness, executor);
    harnessChannel.end();
    expect(await near.closed).toMatchObject({ code: "disconnected", cause: { code: "unauthorized" } });
  });

  it("ends with the connection if the extension was not agreed on", async () => {
    const { harness, executor, harnessChannel, executorChannel } = await streamPair({
      executor: { reliability: false },
      harness: { reconnect: async () => Promise.reject(new Error("not called")) },
    });
    const [near, far] = await initialize(harness, executor);
    harnessChannel.end();
    executorChannel.end(new Error("cut"));
    expect(await near.closed).toMatchObject({ code: "disconnected" });
    expect(await far.closed).toMatchObject({ code: "disconnected", cause: { message: "cut" } });
  });
});
