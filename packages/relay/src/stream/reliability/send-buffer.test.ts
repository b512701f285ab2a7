import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../test/faulty-link.ts";
import { SendBuffer } from "./send-buffer.ts";

const frame = (text: string): Buffer => Buffer.from(text);

/** Everything that may be sent now. */
function takeAll(buffer: SendBuffer, now = 0): string[] {
  const taken: string[] = [];
  for (let next = buffer.take(now); next; next = buffer.take(now)) taken.push(next.frame.toString());
  return taken;
}

describe("a send buffer", () => {
  it("sends no more than its window, and continues as frames are acknowledged", () => {
    const buffer = new SendBuffer({ frames: 3, bytes: 100 });
    for (let i = 0; i < 6; i++) buffer.push(frame(`${i}`));
    expect(takeAll(buffer)).toEqual(["0", "1", "2"]);
    expect(buffer.unsentBytes).toBe(3);
    expect(buffer.acknowledge(2, 0, 5)).toEqual({ isProgress: true, rttMs: 5 });
    expect(takeAll(buffer)).toEqual(["3", "4"]);
    buffer.acknowledge(5, 0, 0);
    expect(takeAll(buffer)).toEqual(["5"]);
    buffer.acknowledge(6, 0, 0);
    expect(buffer.isEmpty).toBe(true);
  });

  it("counts bytes, but always sends one frame", () => {
    const buffer = new SendBuffer({ frames: 10, bytes: 5 });
    buffer.push(frame("too large"));
    buffer.push(frame("abc"));
    expect(takeAll(buffer)).toEqual(["too large"]);
    buffer.acknowledge(1, 0, 0);
    expect(takeAll(buffer)).toEqual(["abc"]);
  });

  it("sends a frame again once enough later ones have arrived, and its copy likewise", () => {
    const buffer = new SendBuffer({ frames: 100, bytes: 1000 });
    for (let i = 0; i < 33; i++) buffer.push(frame(`${i}`));
    takeAll(buffer);
    buffer.acknowledge(0, 0b111, 0);
    expect(takeAll(buffer)).toEqual([]);
    buffer.acknowledge(0, 0xff_ff, 0);
    expect(takeAll(buffer)).toEqual(["0"]);
    expect(takeAll(buffer)).toEqual([]);
    // The copy is lost as well: it was sent after all of these.
    for (let i = 33; i < 60; i++) buffer.push(frame(`${i}`));
    takeAll(buffer);
    buffer.acknowledge(0, 0xff_ff_ff_ff, 0);
    expect(takeAll(buffer)).toEqual([]);
  });

  it("ignores acknowledgements of frames that were never sent", () => {
    const buffer = new SendBuffer({ frames: 2, bytes: 100 });
    for (let i = 0; i < 4; i++) buffer.push(frame(`${i}`));
    takeAll(buffer);
    expect(buffer.acknowledge(3, 0, 0).isProgress).toBe(false);
    expect(buffer.acknowledge(0, 0xff_ff_ff_fe, 0).isProgress).toBe(false);
    expect(buffer.acknowledge(2, 0, 0).isProgress).toBe(true);
  });

  it("measures no round trip by a frame that was sent twice", () => {
    const buffer = new SendBuffer({ frames: 2, bytes: 100 });
    buffer.push(frame("a"));
    takeAll(buffer, 0);
    buffer.loseOldest();
    expect(takeAll(buffer, 10)).toEqual(["a"]);
    expect(buffer.acknowledge(1, 0, 11)).toEqual({ isProgress: true, rttMs: undefined });
  });

  it("delivers all frames to a receiver that gets a random part of them, within its window", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 200 }), (seed, count) => {
        const random = seededRandom(seed);
        const window = { frames: 40, bytes: 10_000 };
        const buffer = new SendBuffer(window);
        for (let i = 0; i < count; i++) buffer.push(frame(`${i}`));
        const received = new Set<number>();
        const ackOf = (): number => {
          let ack = 0;
          while (received.has(ack)) ack += 1;
          return ack;
        };
        for (let round = 0; !buffer.isEmpty; round++) {
          expect(round).toBeLessThan(5000);
          const ack = ackOf();
          for (const text of takeAll(buffer)) {
            expect(Number(text)).toBeLessThan(ack + window.frames);
            if (random() < 0.7) received.add(Number(text));
          }
          let bits = 0;
          for (let bit = 0; bit < 32; bit++) if (received.has(ackOf() + 1 + bit)) bits |= 1 << bit;
          const { isProgress } =
            random() < 0.8 ? buffer.acknowledge(ackOf(), bits >>> 0, 0) : { isProgress: false };
          if (!isProgress) buffer.loseOldest();
          if (random() < 0.01) buffer.loseAll();
        }
        expect(received.size).toBe(count);
      }),
      { numRuns: 50 },
    );
  });
});
