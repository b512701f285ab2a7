// Turns that wait for a tool's result between two calls, on the real codex.
import { callTool, say, type Script } from "@codexkit/scripted-model";
import { startAppServer } from "@codexkit/testing";
import { generateText, type ModelMessage, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codexStage, userPrompt, threadIdOf } from "./codex-stage.ts";
import { createCodex } from "../src/index.ts";

/** A tool without an execute function: its result comes from elsewhere. */
const weather = tool({
  description: "The weather",
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.string(),
});

/** Returns the messages of a step that called the tool, followed by the tool's result. */
function withResult(
  step: Pick<Awaited<ReturnType<typeof generateText>>, "toolCalls" | "responseMessages">,
  value: string,
): ModelMessage[] {
  const results = step.toolCalls.map(
    ({ toolCallId, toolName }) =>
      ({ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }) as const,
  );
  return [...step.responseMessages, { role: "tool", content: results }];
}

const user = (content: string): ModelMessage => ({ role: "user", content });

describe("several conversations that wait for tools", () => {
  it("each receive their own results, in any order", async () => {
    await using stage = await codexStage(({ lastUserText, newOutputs }) =>
      newOutputs.length === 0
        ? callTool("weather", { city: lastUserText })
        : say(`${lastUserText}: ${newOutputs.map(({ text }) => text).join()}`),
    );
    const cities = ["Rome", "Oslo", "Lima"];
    const asked = await Promise.all(
      cities.map((city) => generateText({ model: stage.codex(), prompt: city, tools: { weather } })),
    );
    const bystander = await generateText({ model: stage.codex(), prompt: "Bonn", tools: { weather } });
    expect(bystander.toolCalls).toMatchObject([{ input: { city: "Bonn" } }]);
    const answered = await Promise.all(
      asked.toReversed().map(async (first, at) => {
        const city = cities.at(-1 - at) ?? "";
        return generateText({
          model: stage.codex(),
          tools: { weather },
          messages: [user(city), ...withResult(first, `sun in ${city}`)],
        });
      }),
    );
    expect(answered.map(({ text }) => text)).toEqual([
      "Lima: sun in Lima",
      "Oslo: sun in Oslo",
      "Rome: sun in Rome",
    ]);
  });
});

describe("a turn whose tool result does not arrive", () => {
  const requests: Script = ({ lastUserText, newOutputs, outputs }) => {
    if (lastUserText === "ask" && outputs.length === 0) return callTool("weather", { city: "Rome" });
    return say(`${lastUserText} ${newOutputs.map(({ text }) => text).join()}`);
  };

  it("is interrupted after a timeout, and the model receives the reason", async () => {
    await using stage = await codexStage(requests, { suspendTimeoutMs: 50 });
    const first = await generateText({ model: stage.codex(), prompt: "ask", tools: { weather } });
    expect(first.finishReason).toBe("tool-calls");
    const threadId = threadIdOf(first.providerMetadata);
    // This call waits until the running turn has ended.
    await generateText({
      model: stage.codex(),
      prompt: "next",
      tools: { weather },
      providerOptions: { codex: { threadId } },
    });
    const seen = JSON.stringify(stage.model.requests.at(-1)?.input);
    expect(seen).toContain("No answer came within 50 ms");
  });

  it("is also interrupted if the stream with the request has no reader", async () => {
    await using stage = await codexStage(requests, { suspendTimeoutMs: 50 });
    const { request } = await stage.codex().doStream({
      prompt: userPrompt("ask"),
      tools: [{ type: "function", name: "weather", inputSchema: { type: "object", properties: {} } }],
    });
    const { threadId } = (request?.body ?? {}) as { threadId: string };
    const { text } = await generateText({
      model: stage.codex(),
      prompt: "next",
      providerOptions: { codex: { threadId } },
    });
    expect(text).toMatch(/^next /);
  });

  it("is abandoned for a new message", async () => {
    await using stage = await codexStage(requests);
    const first = await generateText({ model: stage.codex(), prompt: "ask", tools: { weather } });
    const { toolCallId = "", providerMetadata = {} } = first.toolCalls[0] ?? {};
    const second = await stage.codex().doGenerate({
      prompt: [
        ...userPrompt("ask"),
        {
          role: "assistant",
          content: [
            {
              type: "tool-call",
              toolCallId,
              toolName: "weather",
              input: {},
              providerOptions: providerMetadata,
            },
          ],
        },
        ...userPrompt("never mind"),
      ],
    });
    expect(second.content).toMatchObject([{ type: "text", text: expect.stringContaining("never mind") }]);
    expect(second.providerMetadata?.["codex"]?.["threadId"]).toBe(
      first.providerMetadata?.["codex"]?.["threadId"],
    );
    const seen = JSON.stringify(stage.model.requests.at(-1)?.input);
    expect(seen).toContain("continued without an answer");
  });

  it("does not delay a call whose messages no longer contain the one that started it", async () => {
    await using stage = await codexStage(requests);
    const zero = await generateText({ model: stage.codex(), prompt: "zero", tools: { weather } });
    const before: ModelMessage[] = [user("zero"), ...zero.responseMessages];
    await generateText({ model: stage.codex(), messages: [...before, user("ask")], tools: { weather } });
    const other = await generateText({
      model: stage.codex(),
      messages: [...before, user("something else")],
      tools: { weather },
    });
    expect(other.text).toBe("something else ");
    expect(threadIdOf(other.providerMetadata)).not.toBe(threadIdOf(zero.providerMetadata));
  });

  it("is continued by another process from the messages, with a warning", async () => {
    await using stage = await codexStage(requests);
    const first = await generateText({ model: stage.codex(), prompt: "ask", tools: { weather } });
    await stage.codex.close();
    await using process2 = createCodex({ codex: stage.stage.codex, cwd: stage.workspace });
    const second = await generateText({
      model: process2(),
      tools: { weather },
      messages: [user("ask"), ...withResult(first, "sun")],
    });
    expect(second.text).toBe("ask sun");
    expect(second.warnings).toMatchObject([{ type: "other", message: expect.stringContaining("over") }]);
  });

  it("accepts new input together with a result", async () => {
    await using stage = await codexStage(requests);
    const first = await generateText({ model: stage.codex(), prompt: "ask", tools: { weather } });
    const second = await generateText({
      model: stage.codex(),
      tools: { weather },
      messages: [user("ask"), ...withResult(first, "sun"), user("and be brief")],
    });
    expect(second.response.id).toBe(first.response.id);
    expect(second.text).toContain("and be brief");
    expect(JSON.stringify(stage.model.requests.at(-1)?.input)).toContain("sun");
  });
});

describe("two processes on one server", () => {
  it("can share a turn: one receives the tool call, the other delivers its result", async () => {
    const script: Script = ({ newOutputs }) =>
      newOutputs.length === 0 ? callTool("weather", { city: "Rome" }) : say(`it is ${newOutputs[0]?.text}`);
    await using server = await startAppServer({ model: script, listen: "unix", modelRetries: 0 });
    const settings = { connect: { url: server.url ?? "" }, cwd: server.workspace, persist: true };
    const process1 = createCodex(settings);
    const first = await generateText({ model: process1(), prompt: "ask", tools: { weather } });
    await process1.close();
    await using process2 = createCodex(settings);
    const second = await generateText({
      model: process2(),
      tools: { weather },
      messages: [user("ask"), ...withResult(first, "sunny")],
    });
    expect(second).toMatchObject({ text: "it is sunny", warnings: [], finishReason: "stop" });
    expect(second.response.id).toBe(first.response.id);
  });
});
