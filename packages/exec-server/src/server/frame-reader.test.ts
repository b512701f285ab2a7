import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameReader } from "./frame-reader.ts";

interface TestFrame {
  readonly opcode: number;
  readonly final: boolean;
  readonly payload: Uint8Array;
  readonly mask: Uint8Array;
}

/** A client's frame as the standard has it. */
function frame({ opcode, final, payload, mask }: TestFrame): Buffer {
  const { length } = payload;
  const lengthBytes =
    length < 126
      ? [length]
      : length < 65_536
        ? [126, length >> 8, length & 255]
        : [127, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255];
  const [code = 0, ...rest] = lengthBytes;
  const masked = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return Buffer.concat([Buffer.from([(final ? 0x80 : 0) | opcode, 0x80 | code, ...rest]), mask, masked]);
}

/** Cuts bytes into pieces of these sizes, over and over. */
function pieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    cut.push(bytes.subarray(at, at + size));
    at += size;
  }
  return cut;
}

const mask = fc.oneof(fc.constant(new Uint8Array(4)), fc.uint8Array({ minLength: 4, maxLength: 4 }));
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 140 }),
  fc.integer({ min: 0, max: 70_000 }).map((length) => Uint8Array.from({ length }, (_, index) => index * 7)),
);

test("messages come out as they went in, however they are masked, fragmented and cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.tuple(payload, mask), { minLength: 1, maxLength: 3 }), { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 5 }),
      (messages, sizes) => {
        const sent: Buffer[] = [];
        for (const parts of messages) {
          for (const [index, [bytes, key]] of parts.entries()) {
            sent.push(
              frame({
                opcode: index === 0 ? 1 : 0,
                final: index === parts.length - 1,
                payload: bytes,
                mask: key,
              }),
            );
            // Control frames may stand between the fragments.
            sent.push(frame({ opcode: 9, final: true, payload: Buffer.from("ping"), mask: key }));
          }
        }
        const heard: Buffer[] = [];
        let pings = 0;
        const reader = new FrameReader({
          message: (bytes) => heard.push(bytes),
          ping: (bytes) => {
            expect(String(bytes)).toBe("ping");
            pings += 1;
          },
          close: () => {},
        });
        for (const piece of pieces(Buffer.concat(sent), sizes)) reader.push(piece);
        expect(heard).toEqual(messages.map((parts) => Buffer.concat(parts.map(([bytes]) => bytes))));
        expect(pings).toBe(messages.flat().length);
      },
    ),
    { numRuns: 60 },
  );
});

test.each([
  ["a frame without a mask", Buffer.from([0x81, 0x00])],
  ["reserved bits", Buffer.from([0xc1, 0x80, 0, 0, 0, 0])],
  ["an unknown opcode", Buffer.from([0x83, 0x80, 0, 0, 0, 0])],
  ["a continuation of nothing", Buffer.from([0x80, 0x80, 0, 0, 0, 0])],
  ["a long ping", Buffer.from([0x89, 0xfe, 0, 126, 0, 0, 0, 0])],
  ["a fragmented ping", Buffer.from([0x09, 0x80, 0, 0, 0, 0])],
  ["a message above the limit", Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])],
  ["a message of 2^63 bytes", Buffer.from([0x81, 0xff, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])],
])("%s is refused", (_what, bytes) => {
  const reader = new FrameReader({ message: () => {}, ping: () => {}, close: () => {} }, 1000);
  expect(() => reader.push(bytes)).toThrow(/frame|bits|opcode|continuation|larger/);
});
