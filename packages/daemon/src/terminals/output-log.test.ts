import fc from "fast-check";
import { expect, test } from "vitest";
import { OutputLog } from "./output-log.ts";

test("serves the newest bytes at their offsets, and never drops what is still needed", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 30 }), fc.nat(200)), { maxLength: 100 }),
      fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 400, max: 4000 })),
      fc.nat(1500),
      fc.integer({ min: 1, max: 40 }),
      (chunks, maxBytes, offset, limit) => {
        const log = new OutputLog(maxBytes);
        let all = Buffer.alloc(0);
        for (const [bytes, behind] of chunks) {
          all = Buffer.concat([all, bytes]);
          const keepFrom = Math.max(log.start, all.length - behind);
          log.append(Buffer.from(bytes), keepFrom);
          expect(log.start).toBeLessThanOrEqual(Math.max(0, all.length - maxBytes));
          expect(log.start).toBeLessThanOrEqual(keepFrom);
        }
        expect(log.end).toBe(all.length);
        const isThere = offset >= log.start && offset <= log.end;
        const expected = isThere ? all.subarray(offset, offset + limit) : undefined;
        expect(log.read(offset, limit)).toEqual(expected);
      },
    ),
  );
});

test("keeps little more than its limit", () => {
  const log = new OutputLog(100);
  for (let count = 0; count < 1000; count += 1) log.append(Buffer.alloc(10), log.end);
  expect(log.end - log.start).toBe(100);
});

test("takes more than a million tiny chunks", () => {
  const log = new OutputLog(1024 * 1024);
  const count = 1_500_000;
  for (let index = 0; index < count; index += 1) log.append(Buffer.from([index % 251]), log.end);
  const newest = [count - 3, count - 2, count - 1].map((index) => index % 251);
  expect(log.read(count - 3, 10)).toEqual(Buffer.from(newest));
});
