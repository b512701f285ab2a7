// AI SDK tools, called by the real codex.
import { callTool, code, gate, run, say, type Script, waitFor } from "@codexkit/scripted-model";
import {
  generateText,
  isStepCount,
  type ModelMessage,
  streamText,
  tool,
  ToolLoopAgent,
  type ToolSet,
} from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type CodexStage, codexStage, ofType, partsOf, userPrompt, textOf } from "./codex-stage.ts";

const add = tool({
  description: "Adds two numbers",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

/** A tool without an execute function: its result comes from elsewhere. */
const weather = tool({
  description: "The weather",
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.string(),
});

/** Calls a tool as many times as the last digit of the prompt says, then reports the results. */
const adds: Script = ({ lastUserText, newOutputs, outputs }) => {
  const wanted = Number(lastUserText.at(-1));
  if (outputs.length < wanted) return callTool("add", { a: outputs.length, b: 1 });
  return say(`sums ${(newOutputs.length > 0 ? outputs : []).map(({ text }) => text).join()}`);
};

/** The AI SDK's own loop: calls the model, runs the tools, and calls it again until it is done. */
function loop(
  { codex }: CodexStage,
  prompt: string,
  tools: ToolSet,
): ReturnType<typeof generateText<ToolSet>> {
  return generateText({ model: codex(), prompt, tools, stopWhen: isStepCount(9) });
}

const user = (content: string): ModelMessage => ({ role: "user", content });

describe("an AI SDK tool", () => {
  it("is called by the model and run by the client, and its result continues the same turn", async () => {
    await using stage = await codexStage(adds);
    const result = await loop(stage, "add 1", { add });
    expect(result.text).toBe("sums 1");
    expect(result.steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    expect(result.steps[0]?.toolCalls).toMatchObject([{ toolName: "add", input: { a: 0, b: 1 } }]);
    expect(result.warnings).toEqual([]);
    const turns = result.steps.map(({ response }) => response.id);
    expect(new Set(turns).size).toBe(1);
  });

  it("is called in several steps, whose tokens add up to those of the turn", async () => {
    await using stage = await codexStage(adds);
    const agent = new ToolLoopAgent({ model: stage.codex(), tools: { add }, stopWhen: isStepCount(9) });
    const result = await agent.generate({ prompt: "add 3" });
    expect(result.text).toBe("sums 1,2,3");
    expect(result.steps).toHaveLength(4);
    expect(stage.model.requests).toHaveLength(4);
    expect(result.usage).toMatchObject({ inputTokens: 40, outputTokens: 20 });
  });

  it("is streamed with its input", async () => {
    await using stage = await codexStage(adds);
    const { fullStream } = streamText({
      model: stage.codex(),
      prompt: "add 1",
      tools: { add },
      stopWhen: isStepCount(5),
    });
    const types = (await Array.fromAsync(fullStream)).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith("tool") || type === "finish-step")).toEqual([
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "tool-call",
      "tool-result",
      "finish-step",
      "finish-step",
    ]);
  });

  it("has all calls of a response in one step, no matter how late the model writes the last one", async () => {
    const second = gate();
    await using stage = await codexStage(
      ({ newOutputs }) =>
        newOutputs.length === 0
          ? [callTool("add", { a: 1, b: 1 }), waitFor(second), callTool("add", { a: 2, b: 2 })]
          : say(newOutputs.map(({ text }) => text).join()),
      { launchOptions: { onPacket: ({ text }) => text.includes("item/tool/call") && second.open() } },
    );
    const result = await loop(stage, "go", { add });
    expect(result.text).toBe("2,4");
    expect(result.steps.map(({ toolCalls }) => toolCalls.length)).toEqual([2, 0]);
  });

  it("is called in a thread whose history contains calls", async () => {
    await using stage = await codexStage(adds);
    const before = await loop(stage, "add 1", { add });
    // Without their metadata, the messages become the history of a new thread.
    const messages = JSON.parse(
      JSON.stringify([user("add 1"), ...before.responseMessages, user("add 2")]).replaceAll(
        '"providerOptions"',
        '"unused"',
      ),
    ) as ModelMessage[];
    const after = await generateText({
      model: stage.codex(),
      messages,
      tools: { add },
      stopWhen: isStepCount(9),
    });
    expect(after.steps.map(({ toolCalls }) => toolCalls.length)).toEqual([1, 0]);
  });

  it("can be called by a model that writes code", async () => {
    await using stage = await codexStage(
      ({ newOutputs }) =>
        newOutputs.length === 0
          ? code("text(await tools.add({ a: 20, b: 1 }) + await tools.add({ a: 20, b: 2 }))")
          : say(newOutputs.map(({ text }) => text).join()),
      { modelName: "gpt-6.1-sol" },
    );
    const result = await loop(stage, "go", { add });
    expect(result.text).toContain("2122");
  });

  it("can be offered for the first time in a later call on the same provider", async () => {
    await using stage = await codexStage(adds);
    await generateText({ model: stage.codex(), prompt: "no tools 0" });
    const result = await loop(stage, "add 1", { add });
    expect(result.text).toBe("sums 1");
  });

  it("reports its error to the model, and the turn continues", async () => {
    await using stage = await codexStage(({ newOutputs }) =>
      newOutputs.length === 0 ? callTool("broken") : say(newOutputs.map(({ text }) => text).join()),
    );
    const broken = tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw new Error("out of order");
      },
    });
    const result = await loop(stage, "go", { broken });
    expect(result.text).toContain("out of order");
  });

  it("can return images to the model", async () => {
    const png =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await using stage = await codexStage(({ newOutputs }) =>
      newOutputs.length === 0 ? callTool("look") : say("seen"),
    );
    const look = tool({
      inputSchema: z.object({}),
      execute: () => png,
      toModelOutput: ({ output }) => ({
        type: "content",
        value: [
          { type: "text", text: "here it is" },
          { type: "file", mediaType: "image/png", data: { type: "data", data: output } },
        ],
      }),
    });
    await loop(stage, "go", { look });
    const seen = JSON.stringify(stage.model.requests[1]?.input);
    expect(seen).toContain("here it is");
    expect(seen).toContain(`data:image/png;base64,${png}`);
  });

  it("is not offered with toolChoice none; other choices cause a warning", async () => {
    await using stage = await codexStage([[say("a")], [say("b")]]);
    const none = await generateText({
      model: stage.codex(),
      prompt: "go",
      tools: { add },
      toolChoice: "none",
    });
    expect(none.warnings).toEqual([]);
    expect(stage.model.requests[0]?.toolNames).not.toContain("add");
    const forced = await stage.codex().doGenerate({
      prompt: userPrompt("go"),
      tools: [{ type: "function", name: "add", inputSchema: { type: "object", properties: {} } }],
      toolChoice: { type: "required" },
    });
    expect(forced.warnings).toMatchObject([{ type: "unsupported", feature: "toolChoice required" }]);
    expect(stage.model.requests[1]?.toolNames).toContain("add");
  });
});

describe("tools that change during a conversation", () => {
  const tells: Script = ({ lastUserText, toolNames, newOutputs }) => {
    if (lastUserText === "call add" && newOutputs.length === 0) return callTool("add", { a: 1, b: 1 });
    const own = toolNames.filter((name) => name === "add" || name === "weather");
    return say([...own, ...newOutputs.map(({ text }) => text)].join());
  };

  it("cause a new thread with the messages as its history", async () => {
    await using stage = await codexStage(tells);
    const first = await generateText({ model: stage.codex(), prompt: "one", tools: { add } });
    expect(first.text).toBe("add");
    const second = await generateText({
      model: stage.codex(),
      messages: [user("one"), ...first.responseMessages, user("two")],
      tools: { add, weather },
    });
    expect(second.text.split(",").toSorted()).toEqual(["add", "weather"]);
    expect(second.warnings).toMatchObject([{ type: "compatibility" }]);
    const seen = stage.model.requests.at(-1)?.input ?? [];
    expect(JSON.stringify(seen)).toContain("one");
  });

  it("are rejected when they are no longer offered", async () => {
    await using stage = await codexStage(tells);
    const first = await generateText({ model: stage.codex(), prompt: "one", tools: { add } });
    const second = await generateText({
      model: stage.codex(),
      messages: [user("one"), ...first.responseMessages, user("call add")],
    });
    expect(second.text).toContain("not offered");
    expect(second.providerMetadata?.["codex"]?.["threadId"]).toBe(
      first.providerMetadata?.["codex"]?.["threadId"],
    );
  });
});

describe("a step that ends at a tool", () => {
  it("streams Codex's own work before and after it", async () => {
    await using stage = await codexStage(({ newOutputs, outputs }) => {
      if (outputs.length === 0)
        return [run("echo before", { callId: "c1" }), callTool("weather", { city: "x" })];
      return newOutputs.length > 0 && outputs.length === 2
        ? run("echo after", { callId: "c2" })
        : say("done");
    });
    const first = await partsOf(stage.codex(), {
      prompt: userPrompt("go"),
      tools: [
        {
          type: "function",
          name: "weather",
          inputSchema: { type: "object", properties: {} },
          description: "",
        },
      ],
    });
    expect(first.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "tool-calls" } });
    expect(ofType(first, "tool-call").map(({ toolName }) => toolName)).toContain("weather");
    expect(textOf(first)).toBe("");
  });
});
