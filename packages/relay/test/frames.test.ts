import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { repetitions } from "@codexkit/testing";
import { RelayError } from "../src/errors.ts";
import { DataFrameEncoder } from "../src/frames/data-frame-encoder.ts";
import { decodeFrame } from "../src/frames/decode-frame.ts";
import { encodeFrame } from "../src/frames/encode-frame.ts";
import type { RelayFrame } from "../src/frames/frame.ts";

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const payload = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const streamIds = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
  .filter((id) => id.trim() !== "");

const dataBody = fc
  .record({ seq: uint32, segmentIndex: uint32, extra: fc.integer({ min: 1, max: 100 }), payload })
  .filter(({ segmentIndex, extra }) => segmentIndex + extra < 2 ** 32)
  .map(({ seq, segmentIndex, extra, payload: bytes }) => ({
    kind: "data" as const,
    seq,
    segmentIndex,
    segmentCount: segmentIndex + extra,
    payload: bytes,
  }));

const frames: fc.Arbitrary<RelayFrame> = fc.record(
  {
    streamId: streamIds,
    ack: uint32,
    ackBits: uint32,
    body: fc.oneof(
      dataBody,
      fc.constant({ kind: "ack" as const }),
      uint32.map((nextSeq) => ({ kind: "resume" as const, nextSeq })),
      fc.string({ minLength: 1 }).map((reason) => ({ kind: "reset" as const, reason })),
      fc.constant({ kind: "heartbeat" as const }),
      payload.map((bytes) => ({ kind: "handshake" as const, payload: bytes })),
    ),
    traceparent: fc.string({ minLength: 1 }),
    tracestate: fc.string(),
  },
  { requiredKeys: ["streamId", "ack", "ackBits", "body"] },
);

/** Decodes arbitrary bytes to a frame or an error. */
function decodeAny(bytes: Uint8Array): RelayFrame | { readonly error: unknown } {
  try {
    return decodeFrame(bytes);
  } catch (error) {
    return { error };
  }
}

describe("a frame", () => {
  it("round-trips", () => {
    fc.assert(
      fc.property(frames, (frame) => {
        expect(decodeFrame(Buffer.from(encodeFrame(frame)))).toEqual(frame);
      }),
    );
  });

  it("of data is the same from the encoder of a stream", () => {
    fc.assert(
      fc.property(streamIds, uint32, uint32, dataBody, (streamId, ack, ackBits, body) => {
        const encoder = new DataFrameEncoder(streamId);
        const header = { ...body, ack, ackBits };
        const room = encoder.headerBytes(header, body.payload.length);
        const frame = Buffer.concat([Buffer.alloc(room), body.payload]);
        encoder.writeHeader(frame, header, body.payload.length);
        expect(frame).toEqual(Buffer.from(encodeFrame({ streamId, ack, ackBits, body })));
      }),
    );
  });

  it("shares the memory of its payload with the message that it came in", () => {
    const body = {
      kind: "data",
      seq: 1,
      segmentIndex: 0,
      segmentCount: 1,
      payload: Buffer.from("x"),
    } as const;
    const bytes = Buffer.from(encodeFrame({ streamId: "s", ack: 0, ackBits: 0, body }));
    const decoded = decodeFrame(bytes).body;
    expect(decoded.kind === "data" && decoded.payload.buffer === bytes.buffer).toBe(true);
  });

  it("with unknown fields is accepted", () => {
    const known = encodeFrame({ streamId: "s", ack: 0, ackBits: 0, body: { kind: "ack" } });
    const unknown = Buffer.concat([known, Buffer.from([0xa2, 0x06, 1, 0x78]), Buffer.from([0xf8, 0x06, 1])]);
    expect(decodeFrame(unknown)).toEqual(decodeFrame(known));
  });

  const valid = { ack: 0, ackBits: 0, streamId: "s" };
  const record = {
    kind: "data",
    seq: 0,
    segmentIndex: 0,
    segmentCount: 1,
    payload: Buffer.from("x"),
  } as const;
  it.each<[string, Uint8Array]>([
    ["of another version", Buffer.from([0x08, 2, 0x12, 1, 0x73, 0x32, 0])],
    ["without a version", Buffer.from([0x12, 1, 0x73, 0x32, 0])],
    ["without a stream ID", Buffer.from([0x08, 1, 0x32, 0])],
    ["with a blank stream ID", encodeFrame({ ...valid, streamId: " \t", body: { kind: "ack" } })],
    ["with a stream ID that is not UTF-8", Buffer.from([0x08, 1, 0x12, 1, 0xff, 0x32, 0])],
    ["without a body", Buffer.from([0x08, 1, 0x12, 1, 0x73])],
    ["of data without a payload", encodeFrame({ ...valid, body: { ...record, payload: Buffer.alloc(0) } })],
    ["of data without a segment", encodeFrame({ ...valid, body: { ...record, segmentCount: 0 } })],
    ["of data beyond its segments", encodeFrame({ ...valid, body: { ...record, segmentIndex: 1 } })],
    ["of a reset without a reason", encodeFrame({ ...valid, body: { kind: "reset", reason: "" } })],
    [
      "of a handshake without a payload",
      encodeFrame({ ...valid, body: { kind: "handshake", payload: Buffer.alloc(0) } }),
    ],
    ["with a wrong wire type", Buffer.from([0x0a, 1, 1, 0x12, 1, 0x73, 0x32, 0])],
    ["that is empty", Buffer.alloc(0)],
  ])("%s is refused", (_what, bytes) => {
    expect(() => decodeFrame(bytes)).toThrow(expect.objectContaining({ code: "protocol_violation" }));
  });

  it("of arbitrary bytes is decoded or refused, without any of its content in the error", () => {
    const mutated = fc
      .tuple(frames, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.option(fc.nat()))
      .map(([frame, changes, length]) => {
        const bytes = Buffer.from(encodeFrame(frame));
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        return length === null ? bytes : bytes.subarray(0, length % (bytes.length + 1));
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 200 })), (bytes) => {
        const result = decodeAny(bytes);
        // An accepted frame round-trips, and a refused one has the code `protocol_violation`.
        const again = "error" in result ? result : decodeAny(Buffer.from(encodeFrame(result)));
        expect(again).toEqual(result);
        expect("error" in result ? RelayError.is(result.error) : true).toBe(true);
      }),
      { numRuns: repetitions({ test: 3000, soak: 100_000 }) },
    );
  });
});
