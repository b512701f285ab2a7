import fc from "fast-check";
import { expect, test } from "vitest";
import { EventOrder } from "./event-order.ts";

test("events come out once, in order, in whatever order and however often they came", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }).chain((count) => {
        const seqs = Array.from({ length: count }, (_, index) => index + 1);
        return fc.tuple(
          fc.constant(seqs),
          fc.shuffledSubarray([...seqs, ...seqs], { minLength: count * 2, maxLength: count * 2 }),
        );
      }),
      ([expected, arriving]) => {
        const order = new EventOrder();
        const due = arriving.flatMap((seq) => order.add({ seq, bytes: 1 }));
        expect(due.map(({ seq }) => seq)).toEqual(expected);
        expect([order.last, order.hasGap]).toEqual([expected.length, false]);
      },
    ),
  );
});

test("too much behind a missing event is a broken protocol", () => {
  const order = new EventOrder();
  const flood = (): void => {
    for (let seq = 2; seq < 5_000; seq += 1) order.add({ seq, bytes: 10 });
  };
  expect(flood).toThrow(expect.objectContaining({ code: "protocol_violation" }));
});
