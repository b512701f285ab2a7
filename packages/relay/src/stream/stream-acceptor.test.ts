import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { memoryChannelPair } from "../../test/memory-channel.ts";
import { binding, framed, RawHarness } from "../../test/raw-harness.ts";
import {
  AUTHORIZATION,
  EXECUTOR,
  HARNESS,
  Inbox,
  REGISTRATION_ID,
  testAcceptor,
} from "../../test/stream-pair.ts";
import type { RelayLimits } from "../limits.ts";
import { generateIdentity, isSamePublicKey } from "../noise/identity.ts";
import { InitiatorHandshake } from "../noise/initiator.ts";
import type { HarnessVerdict } from "../registry-client/registry-client.ts";
import type { HarnessRequest, StreamAcceptorOptions } from "./acceptor-options.ts";

const RESET = { kind: "reset", reason: "noise_relay_protocol_error" };

/** An acceptor with one connection to harnesses that the test controls. */
function connect(options: Partial<StreamAcceptorOptions> = {}, limits: Partial<RelayLimits> = {}) {
  const [near, far] = memoryChannelPair();
  const test = testAcceptor({ ...options, limits });
  const served = test.acceptor.serve(far, REGISTRATION_ID);
  return { ...test, served, harness: new RawHarness(near), channel: far };
}

/** A validation that the test answers. */
function manualValidation() {
  const requests: (HarnessRequest & { answer: (isValid: boolean) => void })[] = [];
  const validate = (request: HarnessRequest): Promise<HarnessVerdict> =>
    new Promise((resolve) => requests.push({ ...request, answer: (isValid) => resolve({ isValid }) }));
  return { requests, validate };
}

describe("a handshake", () => {
  it("is answered after the validation of the harness's key and authorization", async () => {
    const { requests, validate } = manualValidation();
    const { harness, nextStream } = connect({ validate });
    const stream = nextStream();
    const handshake = harness.startHandshake("s1");
    await vi.waitUntil(() => requests.length === 1);
    expect(harness.received).toEqual([]);
    expect(requests[0]).toMatchObject({
      streamId: "s1",
      registrationId: REGISTRATION_ID,
      authorization: AUTHORIZATION,
    });
    requests[0]?.answer(true);
    const answer = await harness.next("s1");
    expect(answer.kind === "handshake" && handshake.readMessage2(answer.payload)).toBeTruthy();
    expect(isSamePublicKey((await stream).remoteKey, HARNESS.publicKey)).toBe(true);
  });

  it("that waits for its validation does not delay other streams", async () => {
    const { requests, validate } = manualValidation();
    const { harness, acceptor } = connect({ validate });
    harness.startHandshake("slow");
    harness.startHandshake("fast");
    await vi.waitUntil(() => requests.length === 2);
    requests[1]?.answer(true);
    expect((await harness.next("fast")).kind).toBe("handshake");
    expect(acceptor.activeStreams).toBe(1);
    requests[0]?.answer(false);
    expect(await harness.next("slow")).toEqual(RESET);
  });

  it.each<[string, () => Promise<HarnessVerdict>]>([
    ["refused", async () => ({ isValid: false })],
    ["failed", () => Promise.reject(new Error("the registry is down"))],
    ["too slow", () => new Promise(() => {})],
  ])("whose validation %s is reset", async (_what, validate) => {
    const { harness, counters, streams } = connect({ validate }, { validationTimeoutMs: 20 });
    harness.startHandshake("s1");
    expect(await harness.next("s1")).toEqual(RESET);
    expect(counters.handshakesUnauthorized).toBe(1);
    expect(streams).toEqual([]);
  });

  it("is refused without a validation beyond the limits", async () => {
    const { requests, validate } = manualValidation();
    const { harness, counters } = connect({ validate }, { pendingValidations: 2, activeStreams: 3 });
    for (const id of ["a", "b", "c"]) harness.startHandshake(id);
    expect(await harness.next("c")).toEqual(RESET);
    for (const request of requests) request.answer(true);
    await harness.next("a");
    await harness.next("b");
    harness.startHandshake("d");
    await vi.waitUntil(() => requests.length === 3);
    requests[2]?.answer(true);
    await harness.next("d");
    harness.startHandshake("e");
    expect(await harness.next("e")).toEqual(RESET);
    expect(requests).toHaveLength(3);
    expect(counters.handshakesOverLimit).toBe(2);
  });

  it("with an authorization that is too long is refused without a validation", async () => {
    const validate = vi.fn<() => Promise<HarnessVerdict>>(async () => ({ isValid: true }));
    const { harness } = connect({ validate });
    harness.send("s1", { kind: "handshake", payload: Buffer.alloc(3568 + 4097, 1) });
    expect(await harness.next("s1")).toEqual(RESET);
    expect(validate).not.toHaveBeenCalled();
  });

  it.each<[string, (streamId: string) => Buffer]>([
    ["for another stream", () => firstMessage("other")],
    ["that is tampered with", (id) => tampered(firstMessage(id))],
    ["for another executor", (id) => firstMessage(id, generateIdentity())],
    ["that is random", () => Buffer.alloc(3600, 7)],
  ])("%s is reset, and eight of them close the connection", async (_what, message) => {
    const { harness, counters, served } = connect();
    for (let i = 0; i < 8; i++) harness.send(`s${i}`, { kind: "handshake", payload: message(`s${i}`) });
    expect(await harness.next("s0")).toEqual(RESET);
    expect(await served).toMatchObject({ code: "limit" });
    await harness.closed;
    expect(counters.handshakesFailed).toBe(8);
  });

  it("for an established stream does not affect it", async () => {
    const { harness, nextStream } = connect();
    const stream = nextStream();
    const keys = await harness.open("s1");
    const inbox = new Inbox(await stream);
    harness.startHandshake("s1");
    expect(await harness.next("s1")).toEqual(RESET);
    harness.sendRecord("s1", keys, framed("still there"));
    expect(await inbox.count(1)).toEqual(["still there"]);
  });

  it("that is replayed after the end of its stream is refused without a validation", async () => {
    const { requests, validate } = manualValidation();
    const { harness, streams, served } = connect({ validate });
    const handshake = new InitiatorHandshake(HARNESS, EXECUTOR.publicKey, binding("s1"));
    const first = { kind: "handshake", payload: handshake.writeMessage1(AUTHORIZATION) } as const;
    harness.send("s1", first);
    await vi.waitUntil(() => requests.length === 1);
    requests[0]?.answer(true);
    expect((await harness.next("s1")).kind).toBe("handshake");
    await streams[0]?.close();
    expect(await harness.next("s1")).toEqual(RESET);
    for (let replay = 0; replay < 8; replay++) harness.send("s1", first);
    expect(await harness.next("s1")).toEqual(RESET);
    expect(await served).toMatchObject({ code: "limit" });
    expect(requests).toHaveLength(1);
  });

  it("that is repeated during its validation is refused, and the validation aborted", async () => {
    const { requests, validate } = manualValidation();
    const { harness, streams } = connect({ validate });
    harness.startHandshake("s1");
    harness.startHandshake("s1");
    expect(await harness.next("s1")).toEqual(RESET);
    expect(requests[0]?.signal.aborted).toBe(true);
    requests[0]?.answer(true);
    await nextTurn();
    expect(streams).toEqual([]);
    expect(harness.received).toEqual([]);
  });

  it("that the harness withdraws is not counted as a failure", async () => {
    const { requests, validate } = manualValidation();
    const { harness, streams, counters } = connect({ validate });
    for (let i = 0; i < 10; i++) {
      harness.startHandshake(`s${i}`);
      await vi.waitUntil(() => requests.length === i + 1);
      harness.send(`s${i}`, { kind: "reset", reason: "never mind" });
      await vi.waitUntil(() => requests[i]?.signal.aborted);
    }
    await nextTurn();
    expect(streams).toEqual([]);
    expect([counters.handshakesFailed, counters.handshakesUnauthorized]).toEqual([0, 0]);
  });

  it("whose connection ends during the validation is dropped", async () => {
    const { requests, validate } = manualValidation();
    const { harness, streams, channel } = connect({ validate });
    harness.startHandshake("s1");
    await vi.waitUntil(() => requests.length === 1);
    channel.end();
    await vi.waitUntil(() => requests[0]?.signal.aborted);
    requests[0]?.answer(true);
    await nextTurn();
    expect(streams).toEqual([]);
  });
});

describe("data before the handshake is complete", () => {
  it("is refused, and closes the connection after eight times", async () => {
    const { harness, served } = connect();
    const body = {
      kind: "data",
      seq: 0,
      segmentIndex: 0,
      segmentCount: 1,
      payload: Buffer.from("early"),
    } as const;
    for (let i = 0; i < 8; i++) harness.send(`s${i}`, body);
    expect(await harness.next("s0")).toEqual(RESET);
    expect(await served).toMatchObject({ code: "limit" });
  });

  it("is forgotten after a while, so that rare ones never close the connection", async () => {
    const { harness, channel } = connect({}, { failedHandshakesMs: 80 });
    for (let i = 0; i < 20; i++) {
      harness.send(`s${i}`, { kind: "handshake", payload: Buffer.alloc(100) });
      expect(await harness.next(`s${i}`)).toEqual(RESET);
      // The limit is one failure per 10 ms.
      const since = performance.now();
      await vi.waitUntil(() => performance.now() - since > 12, { interval: 1 });
    }
    expect(channel.isClosed).toBe(false);
  });

  it("is not counted for a stream that has just ended", async () => {
    const { harness, nextStream, counters } = connect();
    const stream = nextStream();
    const keys = await harness.open("s1");
    await (await stream).close();
    expect(await harness.next("s1")).toEqual(RESET);
    for (let i = 0; i < 20; i++) harness.sendRecord("s1", keys, framed("late"));
    await harness.open("s2");
    expect(counters.framesInvalid).toBe(20);
  });

  it("other than data is ignored", async () => {
    const { harness } = connect();
    for (let i = 0; i < 20; i++) {
      harness.send("unknown", { kind: "resume", nextSeq: 0 });
      harness.send("unknown", { kind: "ack" });
      harness.send("unknown", { kind: "heartbeat" });
      harness.send("unknown", { kind: "reset", reason: "x" });
    }
    await harness.open("s1");
    expect(harness.received).toEqual([]);
  });

  it("that is no frame at all closes the connection after eight times", async () => {
    const { harness, counters, served } = connect();
    for (let i = 0; i < 8; i++) harness.sendBytes(Buffer.from("not a frame"));
    expect(await served).toMatchObject({ code: "limit" });
    expect(counters.framesInvalid).toBe(8);
  });
});

describe("an acceptor", () => {
  it("ends all streams and connections when it is closed", async () => {
    const { harness, nextStream, acceptor, served } = connect();
    const stream = nextStream();
    await harness.open("s1");
    const inbox = new Inbox(await stream);
    await acceptor.close();
    expect(await inbox.closed).toBeUndefined();
    expect(await harness.next("s1")).toEqual(RESET);
    expect(await served).toBeUndefined();
    expect(acceptor.activeStreams).toBe(0);
    const [, late] = memoryChannelPair();
    await acceptor.serve(late, REGISTRATION_ID);
    expect(late.isClosed).toBe(true);
  });
});

function firstMessage(streamId: string, executor = EXECUTOR): Buffer {
  return new InitiatorHandshake(HARNESS, executor.publicKey, binding(streamId)).writeMessage1(AUTHORIZATION);
}

function tampered(message: Buffer): Buffer {
  message[2400] = (message[2400] ?? 0) ^ 1;
  return message;
}
