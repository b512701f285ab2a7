import { encapsulate } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { repetitions } from "@codexkit/testing";
import { LOW_ORDER_POINTS } from "../../test/low-order-points.ts";
import { memoryChannelPair } from "../../test/memory-channel.ts";
import { binding, framed, RawHarness } from "../../test/raw-harness.ts";
import {
  AUTHORIZATION,
  EXECUTOR,
  HARNESS,
  harnessOptions,
  Inbox,
  REGISTRATION_ID,
  streamPair,
  testAcceptor,
} from "../../test/stream-pair.ts";
import type { RelayError } from "../errors.ts";
import { decodeFrame } from "../frames/decode-frame.ts";
import { encodeFrame } from "../frames/encode-frame.ts";
import type { DataBody } from "../frames/frame.ts";
import { generateIdentity, publicKeyFromBytes, type RelayPublicKey } from "../noise/identity.ts";
import { InitiatorHandshake } from "../noise/initiator.ts";
import { ResponderHandshake } from "../noise/responder.ts";
import { createCounters } from "./counters.ts";
import type { OpenStreamOptions } from "./open-stream-options.ts";
import { openStream } from "./open-stream.ts";

const RESET = { kind: "reset", reason: "noise_relay_protocol_error" };
const BINDING = { environmentId: "e", registrationId: "r", streamId: "s" };

/** Where message 1 has the ephemeral X25519 key: behind an ML-KEM ciphertext. */
const EPHEMERAL_OFFSET = 1088;

function weakKey(point: string): RelayPublicKey {
  return publicKeyFromBytes(Buffer.from(point, "hex"), EXECUTOR.publicKey.mlkemBytes);
}

/** A stream whose harness sends the frames of the test. */
async function hostileStream() {
  const [near, far] = memoryChannelPair();
  const test = testAcceptor();
  void test.acceptor.serve(far, REGISTRATION_ID);
  const harness = new RawHarness(near);
  const accepted = test.nextStream();
  const keys = await harness.open("s1");
  const stream = await accepted;
  return { ...test, harness, keys, stream, inbox: new Inbox(stream) };
}

/** A valid record as a frame body. */
function dataOf(payload: Uint8Array, seq: number): DataBody {
  return { kind: "data", seq, segmentIndex: 0, segmentCount: 1, payload };
}

describe("a record", () => {
  it("that is repeated is delivered once", async () => {
    const { harness, keys, inbox, counters } = await hostileStream();
    const [first, second] = [keys.send.encrypt(framed("one")), keys.send.encrypt(framed("two"))];
    for (const body of [dataOf(first, 0), dataOf(first, 0), dataOf(second, 1), dataOf(first, 0)]) {
      harness.send("s1", body);
    }
    harness.sendRecord("s1", keys, framed("three"));
    expect(await inbox.count(3)).toEqual(["one", "two", "three"]);
    expect(counters.framesDuplicate).toBe(2);
  });

  it("that arrives early waits for the earlier ones", async () => {
    const { harness, keys, inbox } = await hostileStream();
    const records = Array.from({ length: 64 }, (_, i) => dataOf(keys.send.encrypt(framed(`${i}`)), i));
    for (const record of records.toReversed()) harness.send("s1", record);
    expect(await inbox.count(64)).toEqual(records.map((_, i) => `${i}`));
  });

  it.each<[string, (record: Buffer) => DataBody]>([
    ["that was tampered with", (record) => dataOf(flip(record, 5), 0)],
    ["whose tag was tampered with", (record) => dataOf(flip(record, record.length - 1), 0)],
    ["that was truncated", (record) => dataOf(record.subarray(0, -1), 0)],
    ["without a tag", (record) => dataOf(record.subarray(0, 3), 0)],
    ["under another number", (record) => dataOf(record, 1)],
    ["with segments", (record) => ({ ...dataOf(record, 0), segmentCount: 2 })],
    ["that is too far ahead", (record) => dataOf(record, 66)],
    ["that is too large", () => dataOf(Buffer.alloc(61_440 + 17), 0)],
  ])("%s resets its stream alone", async (_what, change) => {
    const { harness, keys, inbox, counters, stream, nextStream } = await hostileStream();
    const other = nextStream();
    const otherKeys = await harness.open("s2");
    const otherInbox = new Inbox(await other);
    harness.send("s1", change(keys.send.encrypt(framed("hello"))));
    // A record under another number is only read when the ones before it have arrived.
    harness.sendRecord("s1", keys, framed("next"), 0);
    expect(await inbox.closed).toMatchObject({ code: "protocol_violation" });
    expect(await harness.next("s1")).toEqual(RESET);
    expect(() => stream.send("x")).toThrow(expect.objectContaining({ code: "closed" }));
    expect(inbox.messages).toEqual([]);
    expect(counters.streamsReset).toBe(1);
    harness.sendRecord("s2", otherKeys, framed("unaffected"));
    expect(await otherInbox.count(1)).toEqual(["unaffected"]);
  });

  it("of another stream is not accepted, although it has the right number", async () => {
    const { harness, inbox, nextStream } = await hostileStream();
    const other = nextStream();
    const otherKeys = await harness.open("s2");
    const otherInbox = new Inbox(await other);
    harness.send("s1", dataOf(otherKeys.send.encrypt(framed("foreign")), 0));
    expect(await inbox.closed).toMatchObject({ code: "protocol_violation" });
    expect(otherInbox.closedCalls).toBe(0);
  });

  it("that is returned to its sender is not accepted", async () => {
    const { harness, harnessChannel } = await streamPair();
    const near = new Inbox(harness);
    harnessChannel.fault = (frame) => harnessChannel.deliver(frame);
    void harness.send('{"id":1}');
    expect(await near.closed).toMatchObject({ code: "protocol_violation" });
  });

  it.each([
    ["an empty message", Buffer.alloc(4)],
    ["a message beyond 64 MiB", Buffer.from([4, 0, 0, 1])],
  ])("with %s resets the stream", async (_what, plaintext) => {
    const { harness, keys, inbox } = await hostileStream();
    harness.sendRecord("s1", keys, plaintext);
    expect(await inbox.closed).toMatchObject({ code: "protocol_violation" });
  });
});

describe("a handshake with a weak ephemeral key", () => {
  it.each(LOW_ORDER_POINTS)("%s is refused and counted", async (point) => {
    const [near, far] = memoryChannelPair();
    const { acceptor, counters, streams } = testAcceptor();
    void acceptor.serve(far, REGISTRATION_ID);
    const harness = new RawHarness(near);
    const handshake = new InitiatorHandshake(HARNESS, EXECUTOR.publicKey, binding("s1"));
    const payload = handshake.writeMessage1(AUTHORIZATION);
    Buffer.from(point, "hex").copy(payload, EPHEMERAL_OFFSET);
    harness.send("s1", { kind: "handshake", payload });
    expect(await harness.next("s1")).toEqual(RESET);
    expect(counters.handshakesFailed).toBe(1);
    expect(streams).toEqual([]);
  });
});

describe("a peer that floods", () => {
  it("with messages that are not read loses its stream after 128", async () => {
    const { harness, keys, inbox, stream } = await hostileStream();
    stream.pause();
    for (let i = 0; i < 129; i++) harness.sendRecord("s1", keys, framed(`${i}`));
    expect(await inbox.closed).toMatchObject({ code: "limit" });
    expect(inbox.messages).toEqual([]);
  });

  it("with records out of order loses its stream at 1 MiB", async () => {
    const { harness, keys, inbox } = await hostileStream();
    keys.send.encrypt(framed("never sent"));
    for (let i = 1; i <= 18; i++) harness.sendRecord("s1", keys, Buffer.alloc(61_440));
    expect(await inbox.closed).toMatchObject({ code: "protocol_violation" });
  });
});

describe("a reset", () => {
  it("ends a plain stream, and its reason is in no error", async () => {
    const { harness, inbox } = await hostileStream();
    harness.send("s1", { kind: "reset", reason: "s3cret-reason" });
    const cause = (await inbox.closed) as RelayError;
    expect(cause).toMatchObject({ code: "disconnected" });
    expect(String(cause.stack) + JSON.stringify(cause)).not.toContain("s3cret-reason");
  });

  it("of a plain stream is answered, so that a harness that did not send it opens a new stream", async () => {
    const { harness, inbox } = await hostileStream();
    harness.send("s1", { kind: "reset", reason: "forged" });
    await inbox.closed;
    expect(await harness.next("s1")).toEqual(RESET);
  });

  it("is what the other end gets when a plain stream is closed", async () => {
    const { harness, stream, keys } = await hostileStream();
    void stream.send("last words");
    await stream.close();
    const record = await harness.next("s1");
    expect(record.kind === "data" && keys.receive.decrypt(0, record.payload)).toEqual(framed("last words"));
    expect(await harness.next("s1")).toEqual(RESET);
  });
});

describe("a harness", () => {
  /** A harness, and the other end of its connection. */
  function opening(options = {}) {
    const [near, far] = memoryChannelPair();
    const frames: Buffer[] = [];
    far.start({ frame: (bytes) => frames.push(bytes), closed: () => {} });
    const opened = openStream(near, harnessOptions({ streamId: "s1", ...options }));
    opened.catch(() => {});
    return { opened, near, far, frames };
  }

  const frame = (body: Parameters<typeof encodeFrame>[0]["body"], streamId = "s1"): Uint8Array =>
    encodeFrame({ streamId, ack: 0, ackBits: 0, body });

  it("claims the stream, then sends its handshake", async () => {
    const { opened, far, frames } = opening();
    while (frames.length < 2) await nextTurn();
    expect(frames.map((bytes) => decodeFrame(bytes))).toMatchObject([
      { streamId: "s1", ack: 0, ackBits: 0, body: { kind: "resume", nextSeq: 0 } },
      { streamId: "s1", body: { kind: "handshake" } },
    ]);
    expect(Buffer.concat(frames).toString("latin1")).not.toContain(AUTHORIZATION);
    await far.close();
    await expect(opened).rejects.toMatchObject({ code: "disconnected" });
  });

  it.each<[string, Uint8Array, string]>([
    ["a reset", frame({ kind: "reset", reason: "no" }), "refused"],
    ["data", frame(dataOf(Buffer.alloc(20), 0)), "protocol_violation"],
    ["a wrong handshake", frame({ kind: "handshake", payload: Buffer.alloc(3424) }), "protocol_violation"],
    ["a short handshake", frame({ kind: "handshake", payload: Buffer.alloc(10) }), "protocol_violation"],
    ["no frame", Buffer.from("hello"), "protocol_violation"],
  ])("that is answered with %s rejects and closes the connection", async (_what, answer, code) => {
    const { opened, near, far } = opening();
    void far.send(answer);
    const error = (await opened.catch((thrown: unknown) => thrown)) as RelayError;
    expect(error.code).toBe(code);
    expect(String(error.stack)).not.toContain(AUTHORIZATION);
    expect(near.isClosed).toBe(true);
  });

  it("ignores frames of other streams, acknowledgements and heartbeats", async () => {
    const { harness, executorChannel, executor, harnessCounters } = await streamPair();
    const inbox = new Inbox(harness);
    void executorChannel.send(frame({ kind: "reset", reason: "x" }, "another"));
    void executorChannel.send(frame({ kind: "heartbeat" }, harness.streamId));
    void executorChannel.send(frame({ kind: "ack" }, harness.streamId));
    void executor.send("hello");
    expect(await inbox.count(1)).toEqual(["hello"]);
    expect(harnessCounters.framesInvalid).toBe(1);
  });

  it("refuses an executor whose key was swapped by the registry", async () => {
    const [near, far] = memoryChannelPair();
    const test = testAcceptor();
    void test.acceptor.serve(far, REGISTRATION_ID);
    const executorKey = generateIdentity().publicKey;
    await expect(openStream(near, harnessOptions({ executorKey }))).rejects.toMatchObject({
      code: "refused",
    });
    expect(test.counters.handshakesFailed).toBe(1);
  });

  it.each<[string, Partial<OpenStreamOptions>, string]>([
    ["a weak key", { executorKey: weakKey(LOW_ORDER_POINTS[0]) }, "protocol_violation"],
    ["another weak key", { executorKey: weakKey(LOW_ORDER_POINTS[2]) }, "protocol_violation"],
    ["an authorization that is too long", { authorization: "x".repeat(4097) }, "limit"],
  ])("that gets %s from its registry rejects, and closes the connection", async (_what, options, code) => {
    const counters = createCounters();
    const { opened, near, frames } = opening({ counters, limits: { handshakeTimeoutMs: 1 }, ...options });
    await expect(opened).rejects.toMatchObject({ code });
    expect(near.isClosed).toBe(true);
    expect(frames).toEqual([]);
    expect(counters.handshakesFailed).toBe(1);
    // A timeout of the handshake would be an unhandled rejection.
    await new Promise((resolve) => void setTimeout(resolve, 5));
  });

  it("gives up when its signal aborts, or the executor does not answer", async () => {
    const abort = new AbortController();
    const { opened, near } = opening({ signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(opened).rejects.toMatchObject({ code: "aborted", cause: { message: "enough" } });
    expect(near.isClosed).toBe(true);
    const slow = opening({ limits: { handshakeTimeoutMs: 5 } });
    await expect(slow.opened).rejects.toMatchObject({ code: "timeout" });
  });

  it("pauses its connection with its reader", async () => {
    const { harness, executor, harnessChannel } = await streamPair({ harness: { reliability: false } });
    const inbox = new Inbox(harness);
    harness.pause();
    expect(harnessChannel.isPaused).toBe(true);
    void executor.send("later");
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(inbox.messages).toEqual([]);
    harness.resume();
    expect(await inbox.count(1)).toEqual(["later"]);
  });
});

describe("a sender", () => {
  it("waits for a slow connection, and refuses messages if too many are waiting", async () => {
    const limits = { bufferedBytes: 3_000_000 };
    const { harness, executor, harnessChannel, executorChannel } = await streamPair({
      harness: { reliability: false, limits },
    });
    const far = new Inbox(executor);
    executorChannel.isPaused = true;
    const message = "x".repeat(61_000);
    let waits: Promise<void> | undefined;
    let sent = 0;
    for (; !waits; sent++) waits = harness.send(message);
    expect(harnessChannel.bufferedBytes).toBeLessThan(2_000_000);
    expect(() => {
      for (; sent < 100; sent++) void harness.send(message);
    }).toThrow(expect.objectContaining({ code: "queue_full" }));
    executorChannel.resume();
    await waits;
    expect(await far.count(sent)).toHaveLength(sent);
    for (const wrong of ["", Buffer.alloc(64 * 1024 * 1024 + 1)]) {
      expect(() => harness.send(wrong)).toThrow(expect.objectContaining({ code: "message_too_large" }));
    }
    await harness.close();
    expect(() => harness.send("x")).toThrow(expect.objectContaining({ code: "closed" }));
  });
});

/** A message with changed bytes or a missing end, or arbitrary bytes. */
function wrongMessages(valid: Buffer): fc.Arbitrary<Uint8Array> {
  const mutated = fc
    .tuple(
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 3 }),
      fc.nat(8000),
    )
    .map(([changes, length]) => {
      const bytes = Buffer.from(valid);
      for (const [at, mask] of changes) bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ mask;
      return length < bytes.length ? bytes.subarray(0, length) : bytes;
    });
  // Two changes of the same byte may undo each other.
  return fc.oneof(mutated, fc.uint8Array({ maxLength: 4000 })).filter((bytes) => !valid.equals(bytes));
}

describe("handshake messages", () => {
  const refused = (read: () => unknown): void => {
    expect(read).toThrow(expect.objectContaining({ code: "protocol_violation" }));
  };
  /** The same handshake each time. */
  const ephemeral = generateIdentity();
  const { ciphertext, sharedKey } = encapsulate(EXECUTOR.publicKey.mlkem);
  const start = () => {
    const handshake = new InitiatorHandshake(HARNESS, EXECUTOR.publicKey, BINDING, {
      ephemeral: () => ephemeral,
      encapsulate: () => ({ ciphertext: Buffer.from(ciphertext), sharedKey: Buffer.from(sharedKey) }),
    });
    return { handshake, first: handshake.writeMessage1("a") };
  };

  it("of arbitrary bytes to an executor are refused", () => {
    const { first } = start();
    expect(new ResponderHandshake(EXECUTOR, BINDING).readMessage1(first).authorization).toBe("a");
    fc.assert(
      fc.property(wrongMessages(first), (bytes) => {
        refused(() => new ResponderHandshake(EXECUTOR, BINDING).readMessage1(bytes));
      }),
      { numRuns: repetitions({ test: 1000, soak: 100_000 }) },
    );
  });

  it("of arbitrary bytes to a harness are refused", () => {
    const { first } = start();
    const responder = new ResponderHandshake(EXECUTOR, BINDING);
    responder.readMessage1(first);
    const { message } = responder.writeMessage2();
    expect(start().handshake.readMessage2(message)).toHaveProperty("send");
    fc.assert(
      fc.property(wrongMessages(message), (bytes) => {
        refused(() => start().handshake.readMessage2(bytes));
      }),
      { numRuns: repetitions({ test: 1000, soak: 100_000 }) },
    );
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 0x40;
  return bytes;
}
