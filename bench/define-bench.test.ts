import { describe, expect, expectTypeOf, it } from "vitest";

import { defineBench } from "./define-bench.ts";
import { runBench } from "./run-bench.ts";

const quietly = { includes: () => true, signal: new AbortController().signal, onProgress: () => {} };
const head = { name: "sample", description: "", rounds: 1 };
const several = async () => ({ speed: 1, p99: 1 });
const one = async (): Promise<number> => 1;

describe("defineBench", () => {
  it("passes the context to the contestants and disposes it after the last row", async () => {
    const seen: string[] = [];
    const bench = defineBench({
      ...head,
      setup: async () => ({
        word: "shared",
        async [Symbol.asyncDispose]() {
          seen.push("disposed");
        },
      }),
      rows: (row) => [
        row({
          name: "a",
          measures: "ms",
          contestants: {
            ours: async (context) => {
              expectTypeOf(context.word).toEqualTypeOf<string>();
              seen.push(context.word);
              return 1;
            },
          },
        }),
      ],
    });
    await runBench(bench, { ...quietly, rounds: 1 });
    expect(seen).toEqual(["shared", "shared", "disposed"]);
  });

  it("warms up once unrecorded, then interleaves the contestants round by round", async () => {
    const calls: string[] = [];
    const contestant = (name: string) => async () => calls.push(name);
    const bench = defineBench({
      ...head,
      rows: (row) => [
        row({
          name: "a",
          measures: "ms",
          contestants: { peer: contestant("p"), ours: contestant("o"), floor: contestant("f") },
        }),
      ],
    });
    const { rows } = await runBench(bench, { ...quietly, rounds: 3 });
    expect(calls).toEqual(["ofp", "pfo", "fpo", "opf"].join("").split(""));
    const [measure] = rows[0]?.measures ?? [];
    // The samples are the call numbers: the first three belong to the warm-up.
    expect(measure?.contestants.map(({ name, samples }) => [name, samples])).toEqual([
      ["ours", [6, 9, 10]],
      ["floor", [5, 7, 12]],
      ["peer", [4, 8, 11]],
    ]);
  });

  it("rejects samples that would make a ratio NaN", async () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      const bench = defineBench({
        ...head,
        rows: (row) => [row({ name: "a", measures: "ms", contestants: { ours: async () => value } })],
      });
      await expect(runBench(bench, { ...quietly, rounds: 1 })).rejects.toThrow(
        /finite number ≥ 0 for "time"/,
      );
    }
  });

  it("times out a contestant that never ends", async () => {
    const { promise } = Promise.withResolvers<number>();
    const bench = defineBench({
      ...head,
      rows: (row) => [row({ name: "a", measures: "ms", contestants: { ours: () => promise } })],
    });
    await expect(
      runBench(bench, { ...quietly, rounds: 1, limits: { sampleMs: 1, graceMs: 1 } }),
    ).rejects.toThrow('row "a", contestant "ours": no sample within 0.001 s');
  });

  it("rejects a bar in the wrong direction when it is declared", () => {
    expect(() =>
      defineBench({
        ...head,
        rows: (row) => [
          row({
            name: "a",
            measures: "ms",
            contestants: { ours: one, floor: one },
            bars: [{ against: "floor", atLeast: 2 }],
          }),
        ],
      }),
    ).toThrow(/row "a": lower is better/);
  });

  it("rejects at compile time what does not fit the row", () => {
    expect(() =>
      defineBench({
        ...head,
        rows: (row) => [
          row({
            name: "one measure",
            measures: "ms",
            contestants: { ours: one, peer: one },
            bars: [
              { against: "peer", atMost: 2 },
              { of: "peer", atMost: 2 },
              { atMost: 2 },
              // @ts-expect-error a peer that does not take part
              { against: "pear", atMost: 2 },
              // @ts-expect-error a floor that was not declared
              { against: "floor", atMost: 2 },
              // @ts-expect-error against itself
              { against: "ours", atMost: 2 },
              // @ts-expect-error a measure's name where there is one measure
              { measure: "time", atMost: 2 },
              // @ts-expect-error no limit
              { against: "peer" },
              // @ts-expect-error two limits
              { against: "peer", atMost: 2, atLeast: 1 },
            ],
          }),
          row({
            name: "several measures",
            measures: { speed: { unit: "tokens/s", better: "higher" }, p99: "ms" },
            contestants: { ours: several, floor: several },
            bars: [
              { measure: "speed", against: "floor", atLeast: 0.5 },
              // @ts-expect-error which measure?
              { against: "floor", atLeast: 0.5 },
              // @ts-expect-error a measure that the row does not have
              { measure: "p98", against: "floor", atMost: 2 },
            ],
          }),
          row({
            name: "wrong sample",
            measures: { speed: "ops/s", p99: "ms" },
            contestants: {
              ours: several,
              // @ts-expect-error one measure is missing
              floor: async () => ({ speed: 1 }),
            },
          }),
          // @ts-expect-error `ours` is missing
          row({ name: "not ours", measures: "ms", contestants: { floor: one } }),
          // @ts-expect-error an unknown unit needs a direction
          row({ name: "unknown unit", measures: "furlongs", contestants: { ours: one } }),
        ],
      }),
    ).toThrow(TypeError);
  });
});
