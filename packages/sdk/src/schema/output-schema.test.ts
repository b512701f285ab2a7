import type { v2 } from "@codexkit/protocol";
import { say } from "@codexkit/scripted-model";
import { startAppServer } from "@codexkit/testing";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { JsonSchema } from "./json-schema.ts";
import type { OutputSchema } from "./json-output-schema.ts";
import { outputSchema } from "./output-schema.ts";
import { prepareOutputSchema } from "./prepare-output-schema.ts";

describe("the schema for the model", () => {
  it("closes every object, requires every property, and makes optional ones nullable", () => {
    const { wire } = outputSchema(
      z.object({
        name: z.string().describe("Who"),
        age: z.number().optional(),
        nick: z.string().nullish(),
        mood: z.enum(["good", "bad"]).default("good"),
        tags: z.array(z.object({ tag: z.string(), weight: z.number().optional() })),
      }),
    );
    expect(wire).toEqual({
      type: "object",
      properties: {
        name: { type: "string", description: "Who" },
        age: { anyOf: [{ type: "number" }, { type: "null" }] },
        nick: { type: ["string", "null"] },
        mood: { anyOf: [{ type: "string", enum: ["good", "bad"] }, { type: "null" }] },
        tags: {
          type: "array",
          items: {
            type: "object",
            properties: {
              tag: { type: "string" },
              weight: { anyOf: [{ type: "number" }, { type: "null" }] },
            },
            required: ["tag", "weight"],
            additionalProperties: false,
          },
        },
      },
      required: ["name", "age", "nick", "mood", "tags"],
      additionalProperties: false,
    });
  });

  it("converts unions to anyOf", () => {
    const shape = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("circle"), radius: z.number() }),
      z.object({ kind: z.literal("square"), side: z.number().optional() }),
    ]);
    const { wire } = outputSchema(z.object({ shape }));
    expect(wire).toMatchObject({
      properties: { shape: { anyOf: [{ additionalProperties: false }, { required: ["kind", "side"] }] } },
    });
    expect(JSON.stringify(wire)).not.toContain("oneOf");
  });

  it("supports recursive schemas", () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node);
      },
    });
    const schema = outputSchema(node);
    expect(JSON.stringify(schema.wire)).toContain("$ref");
    const tree = { name: "a", children: [{ name: "b", children: [] }] };
    expect(schema.parse(JSON.stringify(tree))).toEqual(tree);
  });

  it("is unchanged if it is made strict again", () => {
    const { wire } = outputSchema(z.object({ a: z.string().optional(), b: z.array(z.boolean()) }));
    expect(outputSchema(wire as unknown as JsonSchema).wire).toEqual(wire);
  });

  it.each([
    ["a string", "object", /got a string/],
    ["an array", [], /got an array/],
    ["null", null, /got null/],
    [
      "an unknown type",
      { type: "object", properties: { a: { type: "text" } } },
      /at "a": "text" is not a JSON Schema type/,
    ],
    ["a type that is not a string", { type: 7 }, /must be an object/],
    ["no object at the root", { type: "string" }, /must be an object/],
    ["no type", { type: "object", properties: { a: {} } }, /at "a": it has no "type"/],
    [
      "true as a schema",
      { type: "object", properties: { a: true } },
      /at "a": a schema must be an object, got true/,
    ],
    [
      "an array without items",
      { type: "object", properties: { a: { type: "array" } } },
      /at "a": an array needs "items"/,
    ],
    [
      "arbitrary keys",
      { type: "object", properties: { a: { type: "object", additionalProperties: { type: "string" } } } },
      /at "a": .*arbitrary keys/,
    ],
    ["allOf", { type: "object", allOf: [] }, /does not support "allOf"/],
    ["a dangling reference", { $ref: "#/$defs/none" }, /does not exist/],
  ])("rejects %s", (_what, schema, message) => {
    expect(() => outputSchema(schema as unknown as JsonSchema)).toThrow(
      expect.objectContaining({
        code: "invalid_schema",
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
  });

  it.each([
    [
      "a date",
      z.object({ list: z.array(z.object({ when: z.date() })) }),
      /at "list\[\]\.when": zod type date/,
    ],
    ["a function", z.object({ run: z.function() }), /at "run": zod type function/],
    ["a bigint", z.object({ big: z.bigint() }), /at "big": zod type bigint/],
    ["a transform of anything", z.object({ a: z.transform(String) }), /at "a": zod type transform/],
    ["anything", z.object({ a: z.unknown() }), /at "a": zod type unknown/],
    ["a map", z.object({ a: z.map(z.string(), z.string()) }), /at "a": zod type map/],
    ["a record", z.object({ a: z.record(z.string(), z.number()) }), /at "a": .*arbitrary keys/],
    ["a tuple", z.object({ a: z.tuple([z.string()]) }), /at "a": .*prefixItems/],
    [
      "an intersection",
      z.object({ a: z.intersection(z.string().startsWith("a"), z.string().endsWith("b")) }),
      /at "a": .*allOf/,
    ],
    ["a list at the root", z.array(z.string()), /must be an object/],
  ])("rejects zod's version of %s, with the path", (_what, schema, message) => {
    expect(() => outputSchema(schema as z.ZodType)).toThrow(
      expect.objectContaining({
        code: "invalid_schema",
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
  });
});

describe("parsing the final message", () => {
  const schema = outputSchema(
    z.object({
      passed: z.boolean(),
      reason: z.string().optional(),
      note: z.string().nullish(),
      mood: z.string().default("fine"),
      at: z
        .string()
        .transform((text) => text.length)
        .optional(),
    }),
  );

  it("has the output type of the zod schema, with transforms applied", () => {
    expectTypeOf(schema).toEqualTypeOf<
      OutputSchema<{
        passed: boolean;
        reason?: string | undefined;
        note?: string | null | undefined;
        mood: string;
        at?: number | undefined;
      }>
    >();
  });

  it("uses an output schema that a turn is given, unchanged", async () => {
    const prepared = prepareOutputSchema(schema);
    expectTypeOf(prepared).returns.resolves.toEqualTypeOf<typeof schema>();
    expect(await prepared()).toBe(schema);
  });

  it("omits optional properties that the model returned as null", () => {
    const text = JSON.stringify({ passed: true, reason: null, note: null, mood: null, at: "four" });
    expect(schema.parse(text)).toEqual({ passed: true, note: null, mood: "fine", at: 4 });
  });

  it.each([
    ["spaces around it", '  {"passed": true}\n'],
    ["a fence around it", '```json\n{"passed": true}\n```'],
    ["text and a fence around it", 'Here it is:\n\n```\n{"passed": true}\n```\nThat was it.'],
  ])("accepts JSON with %s", (_what, text) => {
    expect(schema.parse(text)).toEqual({ passed: true, mood: "fine" });
  });

  it("keeps a code fence inside a JSON string", () => {
    const reason = "Run:\n```\n{}\n```";
    expect(schema.parse(JSON.stringify({ passed: false, reason }))).toMatchObject({ reason });
  });

  it.each([
    ["text that is not JSON", "It passed.", /it is not JSON\nIt passed\./],
    ["an empty string", "", /not JSON/],
    ["a value of another type", '{"passed": "yes"}', /expected boolean.*\n.*passed/],
    ["truncated JSON", '{"passed": tr', /not JSON/],
  ])("rejects %s", (_what, text, message) => {
    expect(() => schema.parse(text)).toThrow(
      expect.objectContaining({
        code: "invalid_output",
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
  });

  it("round-trips any value of a zod schema", () => {
    const inner = z.object({ id: z.int(), label: z.string().optional() });
    const whole = z.object({
      text: z.string(),
      list: z.array(inner),
      one: inner.optional(),
      odd: z.union([z.string(), inner]),
    });
    const arbitraryInner = fc.record({ id: fc.integer(), label: fc.string() }, { requiredKeys: ["id"] });
    const arbitrary = fc.record(
      {
        text: fc.string(),
        list: fc.array(arbitraryInner),
        one: arbitraryInner,
        odd: fc.oneof(fc.string(), arbitraryInner),
      },
      { requiredKeys: ["text", "list", "odd"] },
    );
    const schemaOfAll = outputSchema(whole);
    fc.assert(
      fc.property(arbitrary, (value) => {
        expect(schemaOfAll.parse(JSON.stringify(value))).toEqual(value);
      }),
    );
  });
});

describe("parsing with a JSON Schema", () => {
  const schema = outputSchema<{ kind: string; list: { n: number }[]; note?: string }>({
    type: "object",
    properties: {
      kind: { enum: ["a", "b"] },
      list: { type: "array", items: { $ref: "#/$defs/entry" } },
      note: { type: "string" },
      odd: { oneOf: [{ const: 1 }, { type: ["string", "null"] }] },
    },
    required: ["kind", "list"],
    $defs: { entry: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
  });

  it("validates the shape and omits absent properties", () => {
    expect(schema.parse('{"kind":"a","list":[{"n":1}],"note":null,"odd":null}')).toEqual({
      kind: "a",
      list: [{ n: 1 }],
      odd: null,
    });
  });

  it.each([
    ['{"kind":"c","list":[]}', /"kind" is not one of \["a","b"\]/],
    ['{"kind":"a"}', /missing "list"/],
    ['{"kind":"a","list":[{"n":1.5}]}', /"list\[0\]\.n" must be integer, got number/],
    ['{"kind":"a","list":{}}', /"list" must be array, got object/],
    ['{"kind":"a","list":[],"odd":2}', /"odd" matches none of its 2 alternatives/],
    ["[]", /must be object, got array/],
  ])("rejects %s", (text, message) => {
    expect(() => schema.parse(text)).toThrow(
      expect.objectContaining({
        code: "invalid_output",
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
  });

  it("terminates for a schema that refers only to itself", () => {
    const odd = outputSchema({
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } },
    });
    expect(odd.parse('{"a":1}')).toEqual({ a: 1 });
  });
});

describe("the real codex", () => {
  it("sends the schema to the model unchanged, in strict mode", async () => {
    await using server = await startAppServer({ model: [[say('{"passed":true,"reason":null}')]] });
    const peer = await server.connect();
    const completed = Promise.withResolvers<v2.Turn>();
    peer.on("turn/completed", ({ turn }) => completed.resolve(turn));
    const schema = outputSchema(z.object({ passed: z.boolean(), reason: z.string().optional() }));
    const { thread } = await peer.request("thread/start", { cwd: server.workspace, ephemeral: true });
    await peer.request("turn/start", {
      threadId: thread.id,
      input: [{ type: "text", text: "go", text_elements: [] }],
      outputSchema: schema.wire,
    });
    const message = (await completed.promise).items.at(-1);
    expect(message?.type === "agentMessage" && schema.parse(message.text)).toEqual({ passed: true });
    expect(server.model.requests.at(-1)?.body).toMatchObject({
      text: { format: { type: "json_schema", strict: true, schema: schema.wire } },
    });
  });
});
