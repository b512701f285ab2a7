import type {
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { convertArrayToReadableStream, convertReadableStreamToArray } from "@ai-sdk/provider-utils/test";
import { generateText, Output, streamText } from "ai-v6";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import { pixel as png } from "../../test/pixel.ts";
import { z } from "zod";
import { readPrompt } from "../prompt/read-prompt.ts";
import { asV3 } from "./as-v3.ts";

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 3, noCache: 1, cacheRead: 1, cacheWrite: 1 },
  outputTokens: { total: 2, text: 1, reasoning: 1 },
};
const result = (part: Partial<LanguageModelV4GenerateResult>): LanguageModelV4GenerateResult => ({
  content: [],
  finishReason: { unified: "stop", raw: undefined },
  usage,
  warnings: [],
  ...part,
});

describe("the prompt of a V3 call", () => {
  it("has tagged files, in messages and in tool results", async () => {
    const model = new MockLanguageModelV4({ doGenerate: result({}) });
    const prompt: LanguageModelV3CallOptions["prompt"] = [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "file", mediaType: "image/*", data: png },
          { type: "file", mediaType: "text/plain", data: Buffer.from("words") },
          { type: "file", mediaType: "image/png", data: new URL("https://pictures.example/1.png") },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "file", mediaType: "image/png", data: png },
          { type: "tool-call", toolCallId: "c1", toolName: "look", input: {} },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "look",
            output: {
              type: "content",
              value: [
                { type: "text", text: "closer" },
                { type: "image-data", data: png, mediaType: "image/png" },
                { type: "file-data", data: btoa("a: 1"), mediaType: "text/yaml", filename: "a.yaml" },
                { type: "image-url", url: "https://pictures.example/2.png" },
                { type: "file-url", url: "https://pictures.example/notes.md" },
                { type: "image-url", url: "no address" },
                { type: "file-id", fileId: "f-1" },
                { type: "image-file-id", fileId: { openai: "f-2" } },
                { type: "custom" },
                { type: "media", data: png, mediaType: "image/png" } as never,
              ],
            },
          },
        ],
      },
    ];
    await asV3(model).doGenerate({ prompt, temperature: 1 });
    const [options] = model.doGenerateCalls;
    expect(options).toMatchObject({ temperature: 1, prompt: [{ content: "Be brief." }, {}, {}, {}] });
    expect(options?.prompt[1]?.content).toMatchObject([
      { text: "see" },
      { data: { type: "data", data: png } },
      { data: { type: "data", data: Buffer.from("words") } },
      { data: { type: "url", url: new URL("https://pictures.example/1.png") } },
    ]);
    expect(options?.prompt[2]?.content).toMatchObject([{ data: { type: "data", data: png } }, {}]);
    expect(options?.prompt[3]?.content).toMatchObject([
      {
        output: {
          value: [
            { type: "text", text: "closer" },
            { type: "file", mediaType: "image/png", data: { type: "data", data: png } },
            { type: "file", filename: "a.yaml", data: { type: "data" } },
            { type: "file", mediaType: "image", data: { type: "url" } },
            { type: "file", filename: "/notes.md", data: { type: "url" } },
            { type: "text", text: "no address" },
            { type: "file", data: { type: "reference", reference: { codex: "f-1" } } },
            { type: "file", data: { type: "reference", reference: { openai: "f-2" } } },
            { type: "custom" },
            { type: "file", mediaType: "image/png", data: { type: "data", data: png } },
          ],
        },
      },
    ]);
    // The model receives everything except the two references and the custom part.
    const read = await readPrompt(options?.prompt ?? [], {
      tools: new Set(),
      fetch: async (url: unknown) =>
        new Response(
          new URL(url as string).pathname.endsWith(".md") ? "# Notes" : Buffer.from(png, "base64"),
        ),
    });
    expect(read.warnings.map((warning) => "feature" in warning && warning.feature)).toEqual([
      "file of type application/octet-stream",
      "file of type image",
      "tool result content of type custom",
    ]);
  });
});

describe("the output of a V4 model in V3", () => {
  it("has plain files, and no pings, custom parts, preliminary results or interruptions", async () => {
    const parts: LanguageModelV4StreamPart[] = [
      { type: "stream-start", warnings: [{ type: "deprecated", setting: "old", message: "use new" }] },
      { type: "ping" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "hi" },
      { type: "text-end", id: "1", citations: [] },
      { type: "tool-input-start", id: "2", toolName: "exec", inputEncoding: "text", dynamic: true },
      { type: "custom", kind: "codex.plan" },
      { type: "tool-result", toolCallId: "2", toolName: "exec", result: "a", preliminary: true },
      { type: "tool-result", toolCallId: "2", toolName: "exec", result: "ab" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: png } },
      {
        type: "reasoning-file",
        mediaType: "image/png",
        data: { type: "url", url: new URL(`data:image/png;base64,${png}`) },
      },
      {
        type: "file",
        mediaType: "image/png",
        data: { type: "url", url: new URL("https://pictures.example/1.png") },
      },
      { type: "finish", usage, finishReason: { unified: "interrupted", raw: undefined } },
    ];
    const model = new MockLanguageModelV4({
      doStream: { stream: convertArrayToReadableStream(parts) },
    });
    const { stream } = await asV3(model).doStream({ prompt: [] });
    expect(await convertReadableStreamToArray(stream)).toEqual<LanguageModelV3StreamPart[]>([
      { type: "stream-start", warnings: [{ type: "other", message: "old: use new" }] },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "hi" },
      { type: "text-end", id: "1" },
      { type: "tool-input-start", id: "2", toolName: "exec", dynamic: true },
      { type: "tool-result", toolCallId: "2", toolName: "exec", result: "ab" },
      { type: "file", mediaType: "image/png", data: png },
      { type: "file", mediaType: "image/png", data: png },
      {
        type: "source",
        sourceType: "url",
        id: "https://pictures.example/1.png",
        url: "https://pictures.example/1.png",
      },
      { type: "finish", usage, finishReason: { unified: "other", raw: "interrupted" } },
    ]);
  });

  it("is accepted by ai 6", async () => {
    const model = asV3(
      new MockLanguageModelV4({
        modelId: "m",
        doGenerate: result({
          content: [
            { type: "text", text: "hi", citations: [] },
            { type: "custom", kind: "codex.plan" },
            { type: "file", mediaType: "image/png", data: { type: "data", data: png } },
          ],
        }),
        doStream: {
          stream: convertArrayToReadableStream<LanguageModelV4StreamPart>([
            { type: "ping" },
            { type: "text-start", id: "1" },
            { type: "text-delta", id: "1", delta: "hi" },
            { type: "text-end", id: "1" },
            { type: "finish", usage, finishReason: { unified: "interrupted", raw: undefined } },
          ]),
        },
      }),
    );
    const generated = await generateText({ model, prompt: "hi" });
    expect(generated.text).toBe("hi");
    expect(generated.files.map(({ base64 }) => base64)).toEqual([png]);
    expect(generated.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
    const streamed = streamText({ model, prompt: "hi" });
    await expect(streamed.text).resolves.toBe("hi");
    await expect(streamed.finishReason).resolves.toBe("other");
  });

  it.each([
    [
      "the last text",
      [
        { type: "text" as const, text: "Let me see." },
        { type: "text" as const, text: '{"a":1}' },
      ],
    ],
    ["part of a text", [{ type: "text" as const, text: 'It is {"a":1}' }]],
  ])("has the answer as its only text if ai 6 parses it: %s", async (_what, content) => {
    const model = new MockLanguageModelV4({
      doGenerate: result({ content, structuredOutputText: '{"a":1}' }),
    });
    const { output, reasoningText } = await generateText({
      model: asV3(model),
      prompt: "?",
      output: Output.object({ schema: z.object({ a: z.number() }) }),
    });
    expect(output).toEqual({ a: 1 });
    expect(reasoningText).toBe(content[0]?.text);
  });
});
