import { tempFolder } from "@codexkit/testing";
import fc from "fast-check";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openSession } from "./file-backend.ts";
import { defineEvent } from "./session-event.ts";
import { eventLog, PromptSession } from "./session.ts";
import { defineSlice, on } from "./slice.ts";

const Found = defineEvent<{ readonly what: string }>("Found");
const findings = defineSlice<readonly string[]>({
  name: "findings",
  schema: z.array(z.string()),
  initial: [],
  reducers: [on(Found, (all, { what }) => [...all, what])],
});
const audit = defineSlice<readonly string[]>({
  name: "audit",
  kind: "log",
  schema: z.array(z.string()),
  initial: [],
  reducers: [on(Found, (all, { what }) => [...all, `saw ${what}`])],
});
const counter = defineSlice<number>({ name: "counter", schema: z.number(), initial: 0 });
const slices = [findings, audit, counter];

describe("slices", () => {
  test("events run the reducers of every slice and are recorded", () => {
    const session = new PromptSession({ slices, now: () => 7 });
    session.dispatch(Found({ what: "a bug" }));

    expect(session.get(findings)).toEqual(["a bug"]);
    expect(session.get(audit)).toEqual(["saw a bug"]);
    expect(session.get(eventLog)).toEqual([{ type: "Found", payload: { what: "a bug" }, at: 7 }]);
    expect(session.eventsOf(Found)).toEqual([{ what: "a bug" }]);
  });

  test("a rollback undoes states, keeps logs and resets new slices", () => {
    const session = new PromptSession({ slices: [findings, audit] });
    session.dispatch(Found({ what: "one" }));
    const checkpoint = session.checkpoint();
    session.dispatch(Found({ what: "two" }));
    session.update(counter, (count) => count + 1);

    session.rollback(checkpoint);

    expect(session.get(findings)).toEqual(["one"]);
    expect(session.get(audit)).toEqual(["saw one", "saw two"]);
    expect(session.get(counter)).toBe(0);
  });

  test("two slices can't share a name", () => {
    const session = new PromptSession({ slices });
    expect(() => session.get(defineSlice({ name: "counter", schema: z.string(), initial: "" }))).toThrow(
      expect.objectContaining({ code: "invalid_definition" }) as Error,
    );
  });
});

describe("snapshots", () => {
  test("a session survives JSON, including slices that have not been used yet", () => {
    const session = new PromptSession({ slices });
    session.dispatch(Found({ what: "a bug" }));
    session.update(counter, () => 3);

    const restored = PromptSession.fromJSON(JSON.stringify(session));
    const again = PromptSession.fromJSON(JSON.stringify(restored));

    expect(again.id).toBe(session.id);
    expect(again.get(findings)).toEqual(["a bug"]);
    expect(again.get(counter)).toBe(3);
  });

  test.for([
    ["no JSON", "{"],
    ["another shape", "[]"],
    ["a newer version", '{"version":99,"id":"x","slices":{}}'],
  ])("%s is rejected", ([, json]) => {
    expect(() => PromptSession.fromJSON(json)).toThrow(
      expect.objectContaining({ code: "invalid_snapshot" }) as Error,
    );
  });

  test("a stored state that does not match its schema is rejected by name", () => {
    const session = PromptSession.fromJSON({ version: 1, id: "x", slices: { counter: "three" } });
    expect(() => session.get(counter)).toThrow(/"counter"/);
  });
});

describe("files", () => {
  const change = fc.oneof(
    fc.record({ kind: fc.constant("found" as const), value: fc.string({ maxLength: 3 }) }),
    fc.record({ kind: fc.constant("count" as const), value: fc.integer() }),
    fc.record({ kind: fc.constant("rollback" as const), value: fc.constant(0) }),
    fc.record({ kind: fc.constant("replace" as const), value: fc.string({ maxLength: 3 }) }),
  );

  test("a reopened session equals the written one, after any changes and any truncation", async () => {
    await using folder = await tempFolder("session");
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), fc.boolean(), async (changes, isCut) => {
        const path = join(folder.path, `${(run += 1)}.jsonl`);
        let expected: unknown;
        {
          await using session = await openSession(path, { slices });
          const checkpoint = session.checkpoint();
          for (const { kind, value } of changes) {
            if (kind === "found") session.dispatch(Found({ what: value }));
            else if (kind === "count") session.update(counter, () => value);
            else if (kind === "replace") session.update(findings, () => [value]);
            else session.rollback(checkpoint);
          }
          await session.flush();
          expected = session.toJSON();
        }
        // A crash in the middle of a line loses only that line.
        if (isCut) appendFileSync(path, '{"slice":"findings","se');

        {
          await using reopened = await openSession(path, { slices });

          expect(reopened.toJSON()).toEqual(expected);
          reopened.update(counter, () => 42);
          await reopened.flush();
        }
        await using third = await openSession(path, { slices });
        expect(third.get(counter)).toBe(42);
      }),
      { numRuns: 40 },
    );
  });

  test("a log grows by its new entries, not by copies of all of them", async () => {
    await using folder = await tempFolder("session");
    const path = join(folder.path, "log.jsonl");
    await using session = await openSession(path, { slices });
    for (let index = 0; index < 100; index += 1) session.dispatch(Found({ what: `finding ${index}` }));
    await session.flush();

    expect(readFileSync(path, "utf8").length).toBeLessThan(100 * 300);
  });

  test("a damaged line is rejected with its line number", async () => {
    await using folder = await tempFolder("session");
    const path = join(folder.path, "bad.jsonl");
    writeFileSync(path, '{"version":1,"id":"x"}\nnonsense\n');

    await expect(openSession(path)).rejects.toThrow(/bad\.jsonl:2/);
  });
});
