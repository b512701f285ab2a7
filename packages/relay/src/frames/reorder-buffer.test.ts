import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ReorderBuffer } from "./reorder-buffer.ts";

const limits = { frames: 64, bytes: 1000 };
const make = () =>
  new ReorderBuffer<string>(
    () => limits,
    (item) => item.length,
  );

describe("a reorder buffer", () => {
  it("delivers each item once and in order, for any order and number of copies", () => {
    const orders = fc
      .integer({ min: 1, max: 60 })
      .chain((count) =>
        fc.shuffledSubarray([...Array(count).keys(), ...Array(count).keys()], { minLength: 2 * count }),
      );
    fc.assert(
      fc.property(orders, (order) => {
        const buffer = make();
        const items: string[] = [];
        const results = order.map((seq) => buffer.push(seq, `${seq}`, (item) => items.push(item) > 0));
        expect(items).toEqual([...new Set(order)].toSorted((a, b) => a - b).map(String));
        expect(results.filter((result) => result === "duplicate")).toHaveLength(order.length / 2);
        expect(buffer.hasGap).toBe(false);
        expect(buffer.nextSeq).toBe(order.length / 2);
      }),
    );
  });

  it("keeps the first copy", () => {
    const buffer = make();
    const items: string[] = [];
    expect(buffer.push(1, "first", (item) => items.push(item) > 0)).toBe("accepted");
    expect(buffer.push(1, "second", (item) => items.push(item) > 0)).toBe("duplicate");
    buffer.push(0, "zero", (item) => items.push(item) > 0);
    expect(items).toEqual(["zero", "first"]);
  });

  it("refuses items that are too far ahead or too large, without keeping them", () => {
    const buffer = make();
    const ignore = (): boolean => true;
    expect(buffer.push(65, "x", ignore)).toBe("full");
    expect(buffer.push(64, "x", ignore)).toBe("accepted");
    expect(buffer.push(2, "x".repeat(1000), ignore)).toBe("full");
    expect(buffer.push(2, "x".repeat(999), ignore)).toBe("accepted");
    expect([buffer.has(64), buffer.has(65), buffer.has(2)]).toEqual([true, false, true]);
    // The next item is never refused, because it does not have to wait.
    expect(buffer.push(0, "x".repeat(5000), ignore)).toBe("accepted");
  });

  it("expects another copy of an item that its receiver refuses, and keeps the later ones", () => {
    const buffer = make();
    const items: string[] = [];
    const receive = (item: string): boolean => item !== "bad" && items.push(item) > 0;
    for (const [seq, item] of [
      [1, "bad"],
      [2, "two"],
      [3, "bad"],
    ] as const)
      buffer.push(seq, item, receive);
    expect(buffer.push(0, "bad", receive)).toBe("refused");
    expect(buffer.push(0, "zero", receive)).toBe("accepted");
    expect([buffer.nextSeq, buffer.has(1), buffer.has(2)]).toEqual([1, false, true]);
    buffer.push(1, "one", receive);
    buffer.push(3, "three", receive);
    expect(items).toEqual(["zero", "one", "two", "three"]);
  });
});
