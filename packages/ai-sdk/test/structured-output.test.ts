// Structured output on the real codex.
import { gate, run, say, waitFor } from "@codexkit/scripted-model";
import {
  extractJsonMiddleware,
  generateObject,
  generateText,
  jsonSchema,
  Output,
  streamText,
  wrapLanguageModel,
} from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codexStage, ofType, partsOf, userPrompt } from "./codex-stage.ts";

const person = z.object({ name: z.string(), nick: z.string().optional(), age: z.number().nullable() });

const answer = '{"name":"Ann","nick":null,"age":null}';

describe("structured output", () => {
  it("matches the schema, which the model receives in its strict form", async () => {
    await using stage = await codexStage([[say(answer, { chunkSize: 5 })]]);
    const { output, warnings } = await generateText({
      model: stage.codex(),
      prompt: "who?",
      output: Output.object({ schema: person }),
    });
    expect(output).toEqual({ name: "Ann", age: null });
    expect(warnings).toEqual([]);
    expect(stage.model.requests[0]?.body["text"]).toMatchObject({
      format: {
        type: "json_schema",
        strict: true,
        schema: { required: ["name", "nick", "age"], additionalProperties: false },
      },
    });
  });

  it("is streamed as it arrives", async () => {
    const seen = gate();
    await using stage = await codexStage([[say(['{"name":"Ann",', waitFor(seen), '"nick":null,"age":4}'])]]);
    const { partialOutputStream, output } = streamText({
      model: stage.codex(),
      prompt: "who?",
      output: Output.object({ schema: person }),
    });
    const partial: unknown[] = [];
    for await (const one of partialOutputStream) {
      partial.push(one);
      seen.open();
    }
    expect(partial[0]).toEqual({ name: "Ann" });
    expect(await output).toEqual({ name: "Ann", age: 4 });
  });

  it.each([
    ["is marked as such", { phase: "commentary" }, { phase: "final_answer" }],
    ["is not marked", {}, {}],
  ] as const)("does not contain commentary that %s", async (_, before, after) => {
    const script = [[say("I look around.", before), run("true")], [say(answer, after)]] as const;
    await using stage = await codexStage([...script, ...script].map((parts) => [...parts]));
    const options = { model: stage.codex(), prompt: "who?", output: Output.object({ schema: person }) };
    const { output, reasoningText } = await generateText(options);
    expect(output).toEqual({ name: "Ann", age: null });
    expect(reasoningText).toBe("I look around.");
    expect(await streamText(options).output).toEqual({ name: "Ann", age: null });
  });

  it.each([
    ["a refusal", "I can't help with that.", undefined],
    ["a refusal that is marked as the answer", "I can't help with that.", "final_answer"],
    ["fenced JSON", "```json\n{}\n```", undefined],
  ] as const)("stays text if it is not JSON: %s", async (_, words, phase) => {
    const script = () => [[say("I look."), run("true")], [say(words, phase ? { phase } : {})]];
    await using stage = await codexStage([...script(), ...script()]);
    const options = { model: stage.codex(), prompt: "who?", output: Output.object({ schema: person }) };
    const failed = await generateText(options).then(
      ({ output }) => output,
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({ name: "AI_NoObjectGeneratedError", text: words });
    const streamed = streamText(options);
    expect(await streamed.text).toBe(words);
  });

  it("can be extracted from a fence by the AI SDK's own middleware", async () => {
    const fenced = `\`\`\`json\n${answer}\n\`\`\``;
    await using stage = await codexStage(() => say(fenced));
    const model = wrapLanguageModel({ model: stage.codex(), middleware: extractJsonMiddleware() });
    const schema = z.object({ name: z.string(), nick: z.string().nullable(), age: z.number().nullable() });
    const { output } = await generateText({ model, prompt: "who?", output: Output.object({ schema }) });
    expect(output).toEqual(JSON.parse(answer));
  });

  it("sets structuredOutputText", async () => {
    await using stage = await codexStage([[say('{"name":"draft","nick":null,"age":1}')], [say("never")]]);
    const result = await stage.codex().doGenerate({
      prompt: userPrompt("who?"),
      responseFormat: { type: "json", schema: z.toJSONSchema(person) as never },
    });
    expect(result.structuredOutputText).toBe('{"name":"draft","age":1}');
    const plain = await stage.codex().doGenerate({ prompt: userPrompt("who?") });
    expect(plain.structuredOutputText).toBeUndefined();
  });

  it("works with generateObject", async () => {
    await using stage = await codexStage([[say(answer)]]);
    const { object } = await generateObject({ model: stage.codex(), prompt: "who?", schema: person });
    expect(object).toEqual({ name: "Ann", age: null });
  });

  it("is requested in the prompt if strict mode does not support the schema, with a warning", async () => {
    await using stage = await codexStage([[say('{"a":1}')]]);
    const schema = jsonSchema<Record<string, number>>({
      type: "object",
      additionalProperties: { type: "number" },
    });
    const { output, warnings } = await generateText({
      model: stage.codex(),
      prompt: "numbers?",
      output: Output.object({ schema }),
    });
    expect(output).toEqual({ a: 1 });
    expect(warnings).toMatchObject([{ type: "compatibility" }]);
    expect(stage.model.requests[0]?.lastUserText).toContain("additionalProperties");
  });

  it("is requested in the prompt without a schema, with a warning", async () => {
    await using stage = await codexStage([
      [say("Let me see.", { phase: "commentary" }), say("[1]", { phase: "final_answer" })],
    ]);
    const parts = await partsOf(stage.codex(), {
      prompt: userPrompt("list"),
      responseFormat: { type: "json" },
    });
    expect(ofType(parts, "text-delta").map(({ delta }) => delta)).toEqual(["[1]"]);
    expect(ofType(parts, "stream-start")).toMatchObject([{ warnings: [{ type: "compatibility" }] }]);
    expect(stage.model.requests[0]?.lastUserText).toContain("JSON");
  });
});
