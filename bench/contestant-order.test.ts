import * as fc from "fast-check";
import { expect, it } from "vitest";

import { contestantOrder } from "./contestant-order.ts";

const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 });

it("runs every contestant exactly once per round", () => {
  fc.assert(
    fc.property(names, fc.nat(100), (list, round) => {
      expect(contestantOrder(list, round).toSorted()).toEqual(list.toSorted());
    }),
  );
});

it("gives every contestant every position equally often over a full cycle", () => {
  fc.assert(
    fc.property(names, (list) => {
      const rounds = Array.from({ length: 2 * list.length }, (_, round) => contestantOrder(list, round));
      for (const name of list) {
        for (let place = 0; place < list.length; place += 1) {
          expect(rounds.filter((order) => order[place] === name)).toHaveLength(2);
        }
      }
    }),
  );
});

it("uses all six orders of three contestants", () => {
  const orders = Array.from({ length: 6 }, (_, round) => contestantOrder(["a", "b", "c"], round).join(""));
  expect(new Set(orders).size).toBe(6);
});
