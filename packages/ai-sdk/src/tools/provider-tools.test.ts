// Provider and model tools, called by the real codex during a turn.
import { callTool, say, type Script } from "@codexkit/scripted-model";
import { generateText, isStepCount, type ModelMessage, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codexStage, userPrompt } from "../../test/codex-stage.ts";

const calls: Script = ({ newOutputs, tools }) => {
  const [output] = newOutputs;
  if (output !== undefined) return say(`result ${output.text}`);
  const name = ["left", "right"].find((one) => tools.some((offered) => offered.name === one));
  return name === undefined ? say("no tool") : callTool(name, {});
};

const answering = (answer: string) =>
  tool({ description: "Answers", inputSchema: z.object({}), execute: () => answer });

describe("the tools of two models that share a provider", () => {
  it("are never mixed up in a prestarted thread", async () => {
    await using stage = await codexStage(calls);
    const left = stage.codex(undefined, { tools: { left: answering("L") } });
    const right = stage.codex(undefined, { tools: { right: answering("R") } });
    const texts: string[] = [];
    // From the second call of a kind on, a thread is prestarted, which later calls would take.
    for (const model of [left, left, left, right, left, right]) {
      texts.push((await generateText({ model, prompt: "go" })).text);
    }
    expect(texts).toEqual(["L", "L", "L", "R", "L", "R"].map((answer) => `result ${answer}`));
  });

  it("run with the current model's function if their definitions are the same", async () => {
    await using stage = await codexStage(calls);
    const texts: string[] = [];
    for (const answer of ["1", "2", "3", "4"]) {
      const model = stage.codex(undefined, { tools: { left: answering(answer) } });
      texts.push((await generateText({ model, prompt: "go" })).text);
    }
    expect(texts).toEqual(["1", "2", "3", "4"].map((answer) => `result ${answer}`));
  });

  it("run with the current model's function when a conversation continues", async () => {
    await using stage = await codexStage(calls);
    const messages: ModelMessage[] = [{ role: "user", content: "go" }];
    const ask = async (answer: string): Promise<{ text: string; threadId: unknown }> => {
      const model = stage.codex(undefined, { tools: { left: answering(answer) } });
      const { text, responseMessages, providerMetadata } = await generateText({ model, messages });
      messages.push(...responseMessages, { role: "user", content: "again" });
      return { text, threadId: providerMetadata?.["codex"]?.["threadId"] };
    };
    const [first, second] = [await ask("1"), await ask("2")];
    expect([first.text, second.text]).toEqual(["result 1", "result 2"]);
    expect(second.threadId).toBe(first.threadId);
  });

  it("cause a new thread for a tool that the conversation's thread does not have", async () => {
    await using stage = await codexStage(calls);
    const first = await generateText({ model: stage.codex(), prompt: "go" });
    expect(first.text).toBe("no tool");
    const second = await generateText({
      model: stage.codex(undefined, { tools: { left: answering("L") } }),
      messages: [{ role: "user", content: "go" }, ...first.responseMessages, { role: "user", content: "go" }],
    });
    expect(second.text).toBe("result L");
    expect(second.warnings).toMatchObject([
      { type: "compatibility", feature: expect.stringContaining("left") },
    ]);
  });

  it("are rejected in a thread whose next call no longer has them", async () => {
    await using stage = await codexStage(calls);
    const model = stage.codex(undefined, { tools: { left: answering("L") } });
    const { providerMetadata } = await model.doGenerate({ prompt: userPrompt("go") });
    const threadId = providerMetadata?.["codex"]?.["threadId"] as string;
    const { text } = await generateText({
      model: stage.codex(),
      prompt: "again",
      providerOptions: { codex: { threadId } },
    });
    expect(text).toContain("not offered");
  });
});

describe("provider tools", () => {
  it("run during a turn, and are streamed with their results", async () => {
    await using stage = await codexStage(
      ({ newOutputs }) =>
        newOutputs.length === 0 ? callTool("order", { number: 42 }) : say(newOutputs[0]?.text ?? ""),
      {
        tools: {
          order: tool({
            description: "An order by its number.",
            inputSchema: z.object({ number: z.number() }),
            execute: ({ number }, { toolCallId }) => `order ${number} ${typeof toolCallId}`,
          }),
        },
      },
    );
    const result = await generateText({ model: stage.codex(), prompt: "go" });
    expect(result.text).toContain("order 42 string");
    expect(result.steps).toHaveLength(1);
    expect(result.content).toMatchObject([
      { type: "tool-call", toolName: "order", providerExecuted: true },
      { type: "tool-result", toolName: "order" },
      { type: "text" },
    ]);
  });

  it("are replaced by a call's tool with the same name, which the client runs", async () => {
    const order = (by: string) =>
      tool({ description: by, inputSchema: z.object({ number: z.number() }), execute: () => by });
    await using stage = await codexStage(
      ({ newOutputs }) =>
        newOutputs.length === 0 ? callTool("order", { number: 42 }) : say(newOutputs[0]?.text ?? ""),
      { tools: { order: order("by the provider") } },
    );
    const first = await generateText({
      model: stage.codex(),
      prompt: "go",
      tools: { order: order("by the call") },
      stopWhen: isStepCount(3),
    });
    expect(first.text).toContain("by the call");
    expect(first.steps.map(({ toolCalls }) => toolCalls.length)).toEqual([1, 0]);
    // Without the call's tool, the provider's own is used again.
    const messages: ModelMessage[] = [...first.responseMessages, { role: "user", content: "again" }];
    const second = await generateText({ model: stage.codex(), messages });
    expect(second.text).toContain("by the provider");
  });

  it("that time out are reported to the model as an error, and the turn continues", async () => {
    await using stage = await codexStage(
      ({ newOutputs }) => (newOutputs.length === 0 ? callTool("slow", {}) : say(newOutputs[0]?.text ?? "")),
      {
        toolTimeoutMs: 20,
        tools: {
          slow: { description: "Slow.", inputSchema: z.object({}), execute: () => new Promise(() => {}) },
        },
      },
    );
    const { text } = await generateText({ model: stage.codex(), prompt: "go" });
    expect(text).toMatch(/20 ms|time/i);
  });
});
