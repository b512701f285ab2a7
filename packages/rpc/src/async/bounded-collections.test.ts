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

test("evicts in order of age after any additions, deletions and clears", () => {
  const command = fc.oneof(
    fc.record({ type: fc.constant("add" as const), value: fc.nat(9) }),
    fc.record({ type: fc.constant("delete" as const), value: fc.nat(9) }),
    fc.record({ type: fc.constant("clear" as const), value: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4 }), fc.array(command, { maxLength: 60 }), (limit, commands) => {
      const set = new BoundedSet<number>(limit);
      const map = new BoundedMap<number, string>(limit);
      let model: number[] = [];
      for (const { type, value } of commands) {
        if (type === "clear") {
          model = [];
          set.clear();
          map.clear();
          continue;
        }
        model = model.filter((known) => known !== value);
        set.delete(value);
        map.delete(value);
        if (type === "add") {
          model = limit === 0 ? [] : [...model, value].slice(-limit);
          set.add(value);
          map.set(value, `value ${value}`);
        }
        expect([...set]).toEqual(model);
        expect([...map]).toEqual(model.map((known) => [known, `value ${known}`]));
      }
    }),
  );
});
