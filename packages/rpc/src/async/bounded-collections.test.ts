import fc from "fast-check";
import { expect, test } from "vitest";

import { BoundedMap, BoundedSet } from "./bounded-collections.ts";

test("a set holds the newest values, each once, and reports every other one as evicted", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(9)), (limit, values) => {
      const evicted: number[] = [];
      const set = new BoundedSet<number>(limit, (value) => evicted.push(value));

      for (const value of values) set.add(value);

      const newest = [...new Set(values.toReversed())].slice(0, limit);
      expect([...set].toReversed()).toEqual(newest);
      expect(new Set([...set, ...evicted])).toEqual(new Set(values));
    }),
  );
});

test("a map evicts the oldest entry with its value", () => {
  const evicted: string[] = [];
  const map = new BoundedMap<string, number>(2, (value, key) => evicted.push(`${key}=${value}`));

  map.set("a", 1).set("b", 2).set("a", 3).set("c", 4);

  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
  expect(evicted).toEqual(["b=2"]);
});
