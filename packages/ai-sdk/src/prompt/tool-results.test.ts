import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pixel as png, pixelUrl as pngUrl } from "../../test/pixel.ts";
import { readPrompt } from "./read-prompt.ts";

const tools = new Set<string>();

type Assistant = Extract<LanguageModelV4Prompt[number], { role: "assistant" }>;

const user = (text: string): LanguageModelV4Prompt[number] => ({
  role: "user",
  content: [{ type: "text", text }],
});
const assistant = (...content: Assistant["content"]): Assistant => ({ role: "assistant", content });
const says = (text: string): Assistant => assistant({ type: "text", text });
const result = (
  toolCallId: string,
  output: LanguageModelV4ToolResultOutput,
): LanguageModelV4Prompt[number] => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "look", output }],
});
const call = (toolCallId: string, providerExecuted = false): Assistant["content"][number] => ({
  type: "tool-call",
  toolCallId,
  toolName: "look",
  input: { at: 1 },
  providerExecuted,
});

describe("a call that appears in two steps", () => {
  it("is one call in the history, with its result", async () => {
    const output = { type: "text", value: "ran" } as const;
    const { readHistory } = await readPrompt(
      [
        user("run it"),
        assistant(call("c1", true)),
        assistant(call("c1", true), { type: "tool-result", toolCallId: "c1", toolName: "look", output }),
        user("more"),
      ],
      { tools },
    );
    expect((await readHistory()).items.slice(1)).toMatchObject([
      { type: "function_call", call_id: "c1" },
      { type: "function_call_output", call_id: "c1", output: "ran" },
    ]);
  });
});

describe("a tool's result", () => {
  it.each<[LanguageModelV4ToolResultOutput, unknown, unknown?]>([
    [{ type: "text", value: "sunny" }, "sunny"],
    [{ type: "json", value: { sun: true } }, '{"sun":true}'],
    [{ type: "json", value: null }, "null"],
    [{ type: "error-text", value: "no sun" }, "no sun"],
    [{ type: "error-json", value: { code: 1 } }, '{"code":1}'],
    [{ type: "execution-denied" }, "The call was denied."],
    [{ type: "execution-denied", reason: "too late" }, "The call was denied: too late"],
    [{ type: "content", value: [{ type: "text", text: "see" }] }, "see"],
    [{ type: "content", value: [] }, "The tool returned nothing."],
    [
      {
        type: "content",
        value: [
          { type: "text", text: "see" },
          { type: "file", mediaType: "image", data: { type: "data", data: png } },
        ],
      },
      [{ text: "see" }, { image: pngUrl }],
      [
        { type: "input_text", text: "see" },
        { type: "input_image", image_url: pngUrl },
      ],
    ],
  ])("answers the call, and is in the history: %j", async (output, answer, body = answer) => {
    const prompt = [user("weather?"), assistant(call("c1")), result("c1", output)];
    const read = await readPrompt(prompt, { tools });
    expect(read.toolResults).toEqual([{ toolCallId: "c1", toolName: "look", output, result: answer }]);
    expect((await read.readHistory()).items.slice(1)).toEqual([
      { type: "function_call", call_id: "c1", name: "look", arguments: '{"at":1}' },
      { type: "function_call_output", call_id: "c1", output: body },
    ]);
    expect(read.warnings).toEqual([]);
  });

  it("is the newest one if ai 7 also kept preliminary ones", async () => {
    const shown = (value: string): Assistant["content"][number] => ({
      type: "tool-result",
      toolCallId: "p1",
      toolName: "look",
      output: { type: "text", value },
    });
    const { readHistory } = await readPrompt(
      [assistant(call("p1", true), shown("so far"), shown("all of it")), user("go on")],
      { tools },
    );
    expect((await readHistory()).items.slice(1)).toEqual([
      { type: "function_call_output", call_id: "p1", output: "all of it" },
    ]);
  });

  it("causes a warning for content that is not supported", async () => {
    const output: LanguageModelV4ToolResultOutput = { type: "content", value: [{ type: "custom" }] };
    const read = await readPrompt([assistant(call("c1")), result("c1", output)], { tools });
    expect(read.warnings).toMatchObject([{ feature: "tool result content of type custom" }]);
  });

  it("belongs to the client if its call does or if the tool is offered, but not if it denies a provider's call", async () => {
    const denied = result("p1", { type: "execution-denied" });
    const known = await readPrompt([assistant(call("p1", true)), denied], { tools: new Set(["look"]) });
    expect(known.toolResults).toEqual([]);
    await expect(readPrompt([denied], { tools: new Set(["look"]) })).resolves.toMatchObject({
      toolResults: [{ toolCallId: "p1" }],
    });
    await expect(readPrompt([denied], { tools })).resolves.toMatchObject({ toolResults: [] });
  });

  it("is read together with approval responses, from the newest exchange only", async () => {
    const answer = (
      approvalId: string,
      approved: boolean,
      reason?: string,
    ): LanguageModelV4Prompt[number] => ({
      role: "tool",
      content: [
        { type: "tool-approval-response", approvalId, approved, ...(reason === undefined ? {} : { reason }) },
      ],
    });
    const read = await readPrompt(
      [answer("old", true), says("x"), answer("a", true), answer("b", false, "too risky")],
      { tools },
    );
    expect(read.approvals).toEqual([
      { approvalId: "a", approved: true, reason: undefined },
      { approvalId: "b", approved: false, reason: "too risky" },
    ]);
  });
});

describe("the history", () => {
  it("has one output per call, with a valid name and id, wherever it was cut off", async () => {
    const name = fc.string({ maxLength: 90 });
    const called = fc.record({
      id: fc.string({ minLength: 1, maxLength: 90 }),
      name,
      answered: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(called, { selector: ({ id }) => id }), async (calls) => {
        const { readHistory } = await readPrompt(
          [
            assistant(
              ...calls.map(({ id, name: toolName }) => ({
                type: "tool-call" as const,
                toolCallId: id,
                toolName,
                input: undefined,
              })),
            ),
            ...calls.flatMap(({ id, answered }) =>
              answered ? [result(id, { type: "text", value: "ok" })] : [],
            ),
            user("go on"),
          ],
          { tools },
        );
        const { items: read } = await readHistory();
        const items = read as { type: string; call_id: string; name?: string }[];
        const [made, answered] = [
          items.filter((_, at) => at % 2 === 0),
          items.filter((_, at) => at % 2 === 1),
        ];
        expect(
          made.every(({ type, name: given }) => type === "function_call" && /^[\w-]{1,64}$/.test(`${given}`)),
        ).toBe(true);
        expect(answered.every(({ type }) => type === "function_call_output")).toBe(true);
        const ids = made.map(({ call_id: id }) => id);
        expect(answered.map(({ call_id: id }) => id)).toEqual(ids);
        expect(new Set(ids).size).toBe(calls.length);
        expect(ids.every((id) => id.length <= 64)).toBe(true);
      }),
    );
  });

  it("causes a warning for content that it can't contain", async () => {
    const read = await readPrompt(
      [
        result("cut-off", { type: "text", value: "x" }),
        assistant(
          { type: "custom", kind: "other.thing" },
          { type: "custom", kind: "codex.plan" },
          { type: "reasoning", text: "hm" },
          { type: "hologram" } as never,
        ),
        user("go on"),
      ],
      { tools },
    );
    const { items, warnings } = await read.readHistory();
    expect(items).toEqual([]);
    expect(read.warnings).toEqual([]);
    expect(warnings).toMatchObject([
      { type: "other", message: expect.stringContaining("cut-off") },
      { feature: "content of kind other.thing" },
      { feature: "content of type hologram" },
    ]);
  });
});
