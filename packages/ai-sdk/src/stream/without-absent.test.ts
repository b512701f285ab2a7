import type { JSONObject } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutAbsent } from "./without-absent.ts";

const schema: JSONObject = {
  type: "object",
  properties: {
    name: { type: "string" },
    nick: { type: "string" },
    age: { anyOf: [{ type: "number" }, { type: "null" }] },
    home: { $ref: "#/$defs/place" },
    places: { type: "array", items: { $ref: "#/$defs/place" } },
    other: { anyOf: [{ $ref: "#/$defs/place" }, { type: "string" }] },
  },
  required: ["name", "places"],
  $defs: {
    place: {
      type: "object",
      properties: { city: { type: "string" }, street: { type: "string" }, near: { $ref: "#/$defs/place" } },
      required: ["city"],
    },
  },
};

/** Returns the output for a text that arrives in pieces of this size. */
function cleaned(text: string, size = 1): string {
  const clean = withoutAbsent(schema);
  let out = "";
  for (let at = 0; at < text.length; at += size) out += clean(text.slice(at, at + size));
  return out;
}

describe("JSON without absent properties", () => {
  it("has no null for an optional property, at any depth", () => {
    const full = {
      nick: null,
      name: "n",
      age: null,
      home: { street: null, city: "c", near: null },
      places: [
        { city: "a", street: null, near: { city: "x", street: null, near: null } },
        { near: null, street: "s", city: "b" },
      ],
      other: { city: "o", street: null, near: null },
    };
    expect(JSON.parse(cleaned(JSON.stringify(full)))).toEqual({
      name: "n",
      age: null,
      home: { city: "c" },
      places: [
        { city: "a", near: { city: "x" } },
        { street: "s", city: "b" },
      ],
      other: { city: "o" },
    });
  });

  it("keeps everything else as it was written, including whitespace", () => {
    expect(cleaned('{ "name" : "a, \\"null\\" }" , "nick": null, "places": [ ] }\n')).toBe(
      '{ "name" : "a, \\"null\\" }" , "places": [ ] }\n',
    );
  });

  it("passes on text that is not JSON", () => {
    expect(cleaned("{ name: null } and more")).toBe("{ name: null } and more");
    expect(cleaned('{"name" "x"}')).toBe('{"name" "x"}');
  });

  it("does not depend on how the text is split, and has the same values", () => {
    const place = fc.letrec((tie) => ({
      place: fc.record({
        city: fc.string(),
        street: fc.option(fc.string()),
        near: fc.oneof({ maxDepth: 2 }, fc.constant(null), tie("place")),
      }),
    })).place;
    const value = fc.record({
      name: fc.string(),
      nick: fc.option(fc.string()),
      age: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      places: fc.array(place),
    });
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 7 }), fc.constantFrom(0, 2), (given, size, indent) => {
        const text = JSON.stringify(given, undefined, indent);
        const out = cleaned(text, size);
        expect(out).toBe(cleaned(text, text.length));
        expect(JSON.parse(out)).toEqual(expectedOf(JSON.parse(text)));
      }),
    );
  });
});

function expectedOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expectedOf);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key, one]) => one !== null || key === "age");
  return Object.fromEntries(kept.map(([key, one]) => [key, expectedOf(one)]));
}
