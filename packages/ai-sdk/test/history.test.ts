import { say } from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { pixel as png, pixelUrl } from "./pixel.ts";
import { readPrompt } from "../src/prompt/read-prompt.ts";

const picture = { type: "file", mediaType: "image/png", data: { type: "data", data: png } } as const;
const image = { type: "input_image", image_url: pixelUrl };

describe("a history in a fresh thread", () => {
  // One model calls tools, the other writes code.
  it.each(["gpt-5.5", "gpt-6.1-sol"])("reaches the model in order: %s", async (modelName) => {
    const { readHistory, input } = await readPrompt(
      [
        { role: "user", content: [{ type: "text", text: "What is this?" }, picture] },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "A dot." },
            { type: "text", text: "Let me look." },
            { type: "tool-call", toolCallId: "c1", toolName: "look.closer", input: { zoom: 2 } },
          ],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "c1",
              toolName: "look.closer",
              output: { type: "content", value: [{ type: "text", text: "closer" }, picture] },
            },
          ],
        },
        {
          role: "assistant",
          content: [
            {
              type: "tool-call",
              toolCallId: "p1",
              toolName: "exec",
              input: { command: "ls" },
              providerExecuted: true,
            },
            {
              type: "tool-result",
              toolCallId: "p1",
              toolName: "exec",
              output: { type: "text", value: "a.txt" },
            },
            { type: "tool-call", toolCallId: "c2", toolName: "forget", input: {} },
            picture,
            { type: "text", text: "A dot." },
          ],
        },
        { role: "user", content: [{ type: "text", text: "Sure?" }, picture] },
      ],
      { tools: new Set() },
    );
    await using stage = await launchCodex({ model: () => [say("Yes.")], modelName });
    const thread = await stage.codex.startThread({ cwd: stage.workspace, ephemeral: true });
    await thread.inject([...(await readHistory()).items]);
    await thread.run(input);

    const items = (await stage.model.nextRequest()).input.map(({ id: _id, ...item }) => item);
    const from = items.findIndex((item) => JSON.stringify(item).includes("What is this?"));
    expect(items.slice(from)).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "What is this?" }, image] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me look." }] },
      { type: "function_call", name: "look_closer", arguments: '{"zoom":2}', call_id: "c1" },
      {
        type: "function_call_output",
        call_id: "c1",
        output: [{ type: "input_text", text: "closer" }, image],
      },
      { type: "function_call", name: "exec", arguments: '{"command":"ls"}', call_id: "p1" },
      { type: "function_call_output", call_id: "p1", output: "a.txt" },
      { type: "function_call", name: "forget", arguments: "{}", call_id: "c2" },
      { type: "function_call_output", call_id: "c2", output: "The call was not answered." },
      { type: "image_generation_call", status: "completed", result: png },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "A dot." }] },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "Sure?" }, expect.objectContaining(image)],
      },
    ]);
  });
});
