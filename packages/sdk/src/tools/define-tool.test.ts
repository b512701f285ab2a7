import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { CodexError } from "../errors.ts";
import { defineTool, toolNamespace } from "./define-tool.ts";
import { toDynamicTools } from "./dynamic-tools.ts";
import type { AnyTool, JsonObject, Tool } from "./tool.ts";

const input = z.object({});
const plain = (name: string, more: object = {}): Tool =>
  defineTool({ name, description: name, input, execute: () => name, ...more });

describe("a tool", () => {
  it("infers the type of its input from the schema", () => {
    defineTool({
      name: "typed",
      description: "",
      input: z.object({ size: z.number().default(1), unit: z.enum(["m", "km"]).optional() }),
      execute: (given) => {
        expectTypeOf(given).toEqualTypeOf<{ size: number; unit?: "m" | "km" | undefined }>();
      },
    });
    defineTool({
      name: "untyped",
      description: "",
      input: { type: "object", properties: {} },
      execute: (given) => {
        expectTypeOf(given).toEqualTypeOf<JsonObject>();
      },
    });
  });

  it("is offered with the JSON Schema of its input type", () => {
    const tool = defineTool({
      name: "measure",
      description: "Measures",
      input: z.object({
        size: z.coerce.number<number>().default(1).describe("How long"),
        when: z.string().transform((text) => new Date(text)),
        tags: z.looseObject({}).optional(),
      }),
      execute: () => {},
    });
    expect(toDynamicTools([tool])).toEqual([
      {
        type: "function",
        name: "measure",
        description: "Measures",
        inputSchema: {
          type: "object",
          properties: {
            size: { type: "number", default: 1, description: "How long" },
            when: { type: "string" },
            tags: { type: "object", properties: {}, additionalProperties: {} },
          },
          required: ["when"],
          additionalProperties: false,
        },
      },
    ]);
  });

  it("is listed in its namespace", () => {
    const lab = toolNamespace({
      name: "lab",
      description: "The lab",
      tools: [plain("mix"), plain("shake", { deferLoading: true })],
    });
    const specs = toDynamicTools([plain("alone"), plain("stir", { namespace: "lab" }), lab]);
    expect(specs).toMatchObject([
      { type: "function", name: "alone" },
      {
        type: "namespace",
        name: "lab",
        description: "The lab",
        tools: [{ name: "stir" }, { name: "mix" }, { name: "shake", deferLoading: true }],
      },
    ]);
  });
});

describe("a tool that Codex would reject", () => {
  const schema = (json: unknown) => (): AnyTool[] => [
    defineTool({ name: "s", description: "", input: json as JsonObject, execute: () => {} }),
  ];
  const lab = (tools: readonly Tool[], description = ""): AnyTool =>
    toolNamespace({ name: "lab", description, tools });
  const cases: [rule: string, make: () => AnyTool[]][] = [
    ["one or more", () => [plain("")]],
    ["letters, digits", () => [plain("two words")]],
    ["longer than 128", () => [plain("a".repeat(129))]],
    ["reserved for MCP", () => [plain("mcp__till")]],
    ["a built-in tool", () => [plain("exec_command")]],
    ["a built-in tool", () => [plain("view-image")]],
    ["longer than 64", () => [plain("x", { namespace: "n".repeat(65) })]],
    ["reserved by the Responses API", () => [plain("x", { namespace: "web" })]],
    ["reserved for MCP", () => [plain("x", { namespace: "mcp" })]],
    ["longer than 1024", () => [lab([plain("x")], "d".repeat(1025))]],
    ["it has no tools", () => [lab([])]],
    ["deferLoading", () => [plain("later", { deferLoading: true })]],
    ["the same name", () => [plain("x"), plain("x")]],
    ["the same name", () => [lab([plain("x")]), plain("x", { namespace: "lab" })]],
    ["can't distinguish it from a-b", () => [plain("a-b"), plain("a_b")]],
    ["can't distinguish it from lab / x", () => [lab([plain("x")]), plain("lab__x")]],
    ["two different descriptions", () => [lab([plain("x")], "one"), lab([plain("y")], "two")]],
    ["belongs to two namespaces", () => [lab([plain("x", { namespace: "yard" })])]],
    ["timeoutMs", () => [plain("x", { timeoutMs: 0 })]],
    ["neither a zod schema", schema("text")],
    ["neither a zod schema", schema(undefined)],
    ["zod 3", schema({ _def: {} })],
    ['must have the type "object"', schema({})],
    ['must have the type "object"', schema(z.string())],
    [
      'must have the type "object"',
      schema(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])),
    ],
    ["can't be converted to JSON Schema", schema(z.object({ when: z.date() }))],
    ["properties must be an object", schema({ type: "object", properties: [] })],
    ["required must be an array", schema({ type: "object", required: "all" })],
    ["input is not JSON", schema({ type: "object", default: 1n })],
  ];

  it.each(cases)("is rejected with the violated rule: %s", (rule, make) => {
    const convert = (): unknown => toDynamicTools(make());
    expect(convert).toThrow(CodexError);
    expect(convert).toThrow(rule);
    expect(convert).toThrow(expect.objectContaining({ code: "invalid_tool" }));
  });
});
