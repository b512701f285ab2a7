import fc from "fast-check";
import { expect, test } from "vitest";
import { ReplayBuffer } from "./replay-buffer.ts";

test("keeps the newest whole chunks within both limits, and gives them back as they were", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 70_000 }), { maxLength: 60 }),
      fc.nat(70),
      fc.option(fc.nat(200_000), { nil: undefined }),
      (lengths, after, budget) => {
        const limits = { bytes: 150_000, chunks: 20 };
        const buffer = new ReplayBuffer(limits.bytes, limits.chunks);
        const lent = Buffer.alloc(70_000);
        const all = lengths.map((length, index) => ({
          seq: index + 1,
          stream: "stdout" as const,
          bytes: Buffer.alloc(length, index + 1),
        }));
        for (const chunk of all) {
          chunk.bytes.copy(lent);
          buffer.push({ ...chunk, bytes: lent.subarray(0, chunk.bytes.length) });
        }
        const kept: typeof all = [];
        for (const chunk of all.toReversed()) {
          const total = kept.reduce((sum, { bytes }) => sum + bytes.length, chunk.bytes.length);
          if (total > limits.bytes || kept.length >= limits.chunks) break;
          kept.unshift(chunk);
        }
        const found = buffer.after(after, budget ?? Infinity);
        const wanted = kept.filter(({ seq }) => seq > after);
        expect(found.map(({ seq }) => seq)).toEqual(wanted.slice(0, found.length).map(({ seq }) => seq));
        for (const [index, { bytes }] of found.entries())
          expect(bytes.equals(wanted[index]?.bytes ?? Buffer.alloc(1))).toBe(true);
        expect(found.length > 0).toBe(wanted.length > 0);
        expect(budget === undefined ? found.length : wanted.length).toBe(wanted.length);
        expect(buffer.hasAfter(after)).toBe(wanted.length > 0);
      },
    ),
    { numRuns: 60 },
  );
});
