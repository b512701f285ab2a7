import { repetitions } from "@codexkit/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exposedGc } from "../../test/exposed-gc.ts";
import { RelayError } from "../errors.ts";
import { MessagePacker } from "../stream/message-packer.ts";
import { MessageReader } from "./message-reader.ts";

const LIMIT = 1000;

/** Packs messages and returns copies of the records, as encryption would. */
function pack(
  messages: readonly Buffer[],
  recordBytes: number,
): { record: Buffer; index: number; count: number }[] {
  const records: { record: Buffer; index: number; count: number }[] = [];
  const packer = new MessagePacker(recordBytes, (record, index, count) =>
    records.push({ record: Buffer.from(record), index, count }),
  );
  for (const message of messages) packer.add(message, message.length);
  packer.flush();
  expect(packer.pendingBytes).toBe(0);
  return records;
}

function usedBytes(gc: NodeJS.GCFunction): number {
  // Another thread frees the buffers that a collection has found. The next collection waits for it.
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe("messages", () => {
  const messages = fc.array(
    fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    { maxLength: 20 },
  );

  it("are packed into records and read again, however the records are split", () => {
    fc.assert(
      fc.property(
        messages,
        fc.integer({ min: 5, max: 200 }),
        fc.integer({ min: 1, max: 100 }),
        (all, size, step) => {
          const records = pack(all, size);
          for (const { record, index, count } of records) {
            expect(record.length).toBeLessThanOrEqual(size);
            expect(index).toBeLessThan(count);
          }
          const bytes = Buffer.concat(records.map(({ record }) => record));
          const read: Buffer[] = [];
          const reader = new MessageReader(LIMIT, (message) => read.push(message));
          for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step));
          expect(read).toEqual(all);
          expect(reader.isAtBoundary).toBe(true);
          expect(reader.pendingBytes).toBe(0);
        },
      ),
    );
  });

  it("that are small share a record, and large ones have records of their own", () => {
    const records = pack(
      [1, 2, 100, 3].map((size) => Buffer.alloc(size, "x")),
      50,
    );
    expect(records.map(({ record, index, count }) => [record.length, index, count])).toEqual([
      [11, 0, 1],
      [50, 0, 3],
      [50, 1, 3],
      [4, 2, 3],
      [7, 0, 1],
    ]);
  });

  it("of an invalid length are refused", () => {
    for (const length of [0, LIMIT + 1, 2 ** 32 - 1]) {
      const reader = new MessageReader(LIMIT, () => {});
      const record = Buffer.alloc(4);
      record.writeUInt32BE(length);
      expect(() => reader.push(record)).toThrow(expect.objectContaining({ code: "protocol_violation" }));
    }
  });

  it("of arbitrary bytes are read or refused", () => {
    const record = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      // A plausible length, which random bytes rarely begin with.
      fc.tuple(fc.nat(LIMIT + 1), fc.uint8Array({ maxLength: 40 })).map(([length, rest]) => {
        const bytes = Buffer.concat([Buffer.alloc(4), rest]);
        bytes.writeUInt32BE(length);
        return bytes;
      }),
    );
    fc.assert(
      fc.property(fc.array(record, { maxLength: 10 }), (records) => {
        let received = 0;
        let read = 0;
        const reader = new MessageReader(LIMIT, (message) => {
          expect(message.length).toBeGreaterThan(0);
          expect(message.length).toBeLessThanOrEqual(LIMIT);
          read += message.length + 4;
        });
        let refusal: unknown;
        for (const bytes of records) {
          received += bytes.length;
          try {
            reader.push(Buffer.from(bytes));
          } catch (error) {
            refusal = error;
            break;
          }
          expect(reader.pendingBytes).toBeLessThanOrEqual(received - read);
        }
        expect(
          refusal === undefined || (RelayError.is(refusal) && refusal.code === "protocol_violation"),
        ).toBe(true);
        expect(read).toBeLessThanOrEqual(received);
      }),
      { numRuns: repetitions({ test: 500, soak: 100_000 }) },
    );
  });

  it("in records of one byte need little more memory than their bytes", () => {
    const gc = exposedGc();
    const [size, before] = [300_000, usedBytes(gc)];
    const read: Buffer[] = [];
    const reader = new MessageReader(size, (message) => read.push(message));
    const bytes = Buffer.alloc(4 + size, "x");
    bytes.writeUInt32BE(size);
    // Copies, as decryption makes them.
    for (let at = 0; at < size; at++) reader.push(Buffer.from(bytes.subarray(at, at + 1)));
    expect(reader.pendingBytes).toBe(size - 4);
    expect(usedBytes(gc) - before).toBeLessThan(8_000_000);
    reader.push(bytes.subarray(size));
    expect(read).toEqual([bytes.subarray(4)]);
  });

  it("that are incomplete need no more memory than was received", () => {
    const reader = new MessageReader(2 ** 30, () => {});
    reader.push(Buffer.from([0x3f, 0, 0, 0, 1, 2, 3]));
    expect(reader.pendingBytes).toBe(3);
    expect(reader.isAtBoundary).toBe(false);
  });
});
