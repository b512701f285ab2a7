import { callTool, run, say, type Script, think } from "@codexkit/scripted-model";
import {
  createProviderRegistry,
  generateText,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  tool,
} from "ai-v6";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codexStage } from "./codex-stage.ts";
import type { CodexSettings } from "../src/options/settings.ts";
import { type CodexModelProviderV3, createCodexV3 } from "../src/v3/create-codex-v3.ts";

/** Creates a provider on a real codex that plays a script. */
async function onScript(
  script: Script,
  settings: CodexSettings = {},
): Promise<AsyncDisposable & { readonly codex: CodexModelProviderV3 }> {
  await using made = new AsyncDisposableStack();
  const { stage, workspace: cwd } = made.use(await codexStage(script));
  const codex = made.use(createCodexV3({ codex: stage.codex, cwd, ...settings }));
  const owner = made.move();
  return { codex, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

describe("ai 6", () => {
  it("generates, and continues the thread of its messages", async () => {
    const threads: (string | undefined)[] = [];
    await using stage = await onScript(({ threadId, lastUserText }) => {
      threads.push(threadId);
      return say(`You said: ${lastUserText}`);
    });
    const model = stage.codex();
    const first = await generateText({ model, system: "Be brief.", prompt: "one" });
    expect(first).toMatchObject({ text: "You said: one", finishReason: "stop", warnings: [] });
    const messages: ModelMessage[] = [{ role: "user", content: "one" }, ...first.response.messages];
    const second = await generateText({
      model,
      system: "Be brief.",
      messages: [...messages, { role: "user", content: "two" }],
    });
    expect(second.text).toBe("You said: two");
    expect(new Set(threads).size).toBe(1);
  });

  it("streams text, reasoning and commands", async () => {
    await using stage = await onScript([[think("Hm."), run("echo hi")], [say("Done.")]]);
    const result = streamText({ model: stage.codex(), prompt: "Say hi" });
    const types = new Set<string>();
    for await (const part of result.fullStream) types.add(part.type);
    expect([...types]).toEqual(
      expect.arrayContaining(["reasoning-delta", "tool-call", "tool-result", "text-delta", "finish"]),
    );
    await expect(result.text).resolves.toBe("Done.");
    const results = (await result.steps).flatMap(({ toolResults }) => toolResults);
    expect(results).toMatchObject([{ toolName: "codex_exec", output: { output: "hi\n" } }]);
  });

  it("calls tools in several steps", async () => {
    await using stage = await onScript(({ newOutputs }) =>
      newOutputs.length === 0
        ? callTool("weather", { city: "Oslo" })
        : say(`It says: ${newOutputs[0]?.text}`),
    );
    const { text, steps } = await generateText({
      model: stage.codex(),
      prompt: "Weather?",
      tools: {
        weather: tool({
          description: "The weather in a city.",
          inputSchema: z.object({ city: z.string() }),
          execute: async ({ city }) => `Snow in ${city}.`,
        }),
      },
      stopWhen: stepCountIs(3),
    });
    expect(text).toBe("It says: Snow in Oslo.");
    expect(steps).toHaveLength(2);
  });

  it("gets structured output without earlier commentary, both generated and streamed", async () => {
    await using stage = await onScript(() => [
      say("Let me look.", { phase: "commentary" }),
      say('{"stars":5}', { phase: "final_answer" }),
    ]);
    const call = {
      model: stage.codex(),
      prompt: "Rate it",
      output: Output.object({ schema: z.object({ stars: z.number() }) }),
    };
    expect((await generateText(call)).output).toEqual({ stars: 5 });
    await expect(streamText(call).output).resolves.toEqual({ stars: 5 });
  });

  it("lets a person approve a command", async () => {
    await using stage = await onScript([[run("echo out", { escalate: "network" })], [say("Done.")]], {
      approvalPolicy: "on-request",
      sandbox: "read-only",
    });
    const model = stage.codex();
    const prompt: ModelMessage = { role: "user", content: "Go" };
    const asked = await generateText({ model, messages: [prompt] });
    const request = asked.content.find((part) => part.type === "tool-approval-request");
    const { text } = await generateText({
      model,
      messages: [
        prompt,
        ...asked.response.messages,
        {
          role: "tool",
          content: [
            {
              type: "tool-approval-response",
              approvalId: request?.approvalId ?? "",
              approved: true,
              providerExecuted: true,
            },
          ],
        },
      ],
    });
    expect(text).toBe("Done.");
  });

  it("receives an error, and rejects other model types", async () => {
    await using stage = await onScript([]);
    await expect(generateText({ model: stage.codex(), prompt: "?", maxRetries: 0 })).rejects.toThrow(
      "script",
    );
    expect(() => stage.codex.embeddingModel("e")).toThrow("e");
    expect(() => stage.codex.imageModel("i")).toThrow("i");
    expect(await stage.codex.listModels()).not.toEqual([]);
  });

  it("accepts the provider in its registry", async () => {
    await using stage = await onScript(() => say("Hello."));
    const registry = createProviderRegistry({ codex: stage.codex });
    const { text } = await generateText({ model: registry.languageModel("codex:gpt-5.5"), prompt: "Hi" });
    expect(text).toBe("Hello.");
  });
});
