import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { repetitions } from "@codexkit/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dataFrame, resetFrame } from "../../../test/raw-ends.ts";
import { encodeFrame } from "../../frames/encode-frame.ts";
import { encodeReset, readFrameHeader } from "./frame-header.ts";

const stringField = (field: number, text: string): Uint8Array =>
  new BinaryWriter().tag(field, WireType.LengthDelimited).string(text).finish();

describe("the header of a frame", () => {
  test("has the stream ID and the kind of the frame", () => {
    const none = { streamId: "a", isReset: false, isHandshake: false, isData: false };
    expect(readFrameHeader(dataFrame("a", "x"))).toEqual({ ...none, isData: true });
    expect(readFrameHeader(resetFrame("a", "over"))).toEqual({ ...none, isReset: true });
    expect(readFrameHeader(encodeReset("a", "over"))).toEqual({ ...none, isReset: true });
    const [ack, ackBits] = [0, 0];
    const handshake = { kind: "handshake", payload: Buffer.from("x") } as const;
    expect(readFrameHeader(encodeFrame({ streamId: "a", ack, ackBits, body: handshake }))).toEqual({
      ...none,
      isHandshake: true,
    });
    expect(readFrameHeader(encodeFrame({ streamId: "a", ack, ackBits, body: { kind: "ack" } }))).toEqual(
      none,
    );
    expect(Buffer.from(encodeReset("a", "over"))).toEqual(Buffer.from(resetFrame("a", "over")));
  });

  test("is refused with a second stream ID, which the receiver could use instead", () => {
    const twice = Buffer.concat([dataFrame("own", "x"), stringField(2, "foreign")]);
    expect(readFrameHeader(twice)).toBeUndefined();
  });

  test("is refused if the stream ID is missing, empty, too long or of another type", () => {
    expect(readFrameHeader(new Uint8Array())).toBeUndefined();
    expect(readFrameHeader(stringField(3, "a"))).toBeUndefined();
    expect(readFrameHeader(stringField(2, ""))).toBeUndefined();
    expect(readFrameHeader(stringField(2, "x".repeat(129)))).toBeUndefined();
    expect(readFrameHeader(new BinaryWriter().tag(2, WireType.Varint).uint32(1).finish())).toBeUndefined();
  });

  test("is refused if the frame is truncated or has groups", () => {
    const frame = dataFrame("stream", "payload");
    for (let length = 0; length < frame.length; length += 1) {
      const header = readFrameHeader(frame.subarray(0, length));
      // Truncated between the ID and the body, the frame is still valid.
      expect(header === undefined || header.streamId === "stream").toBe(true);
    }
    expect(readFrameHeader(frame.subarray(0, frame.length - 1))).toBeUndefined();
    const groups = Buffer.concat([frame, Buffer.alloc(100_000, 0x7b)]);
    expect(readFrameHeader(groups)).toBeUndefined();
  });

  test("of arbitrary bytes is a header or undefined", () => {
    const frame = dataFrame("stream", "payload");
    const mutated = fc
      .array(fc.tuple(fc.nat(frame.length - 1), fc.nat(255)), { maxLength: 4 })
      .map((changes) => {
        const bytes = Uint8Array.from(frame);
        for (const [at, value] of changes) bytes[at] = value;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 200 })), (bytes) => {
        const header = readFrameHeader(bytes);
        expect(header === undefined || header.streamId.length > 0).toBe(true);
      }),
      { numRuns: repetitions({ test: 500, soak: 100_000 }) },
    );
  });

  test("keeps the bytes of every stream ID", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "-", " ", "ü", "✓", "🚀"), minLength: 1, maxLength: 30 }),
        (streamId) => {
          const header = readFrameHeader(dataFrame(streamId, "x"));
          const echoed = encodeReset(header?.streamId ?? "", "over");
          expect(Buffer.from(echoed)).toEqual(Buffer.from(resetFrame(streamId, "over")));
        },
      ),
      { numRuns: 200 },
    );
  });
});
