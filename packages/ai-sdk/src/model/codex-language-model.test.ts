// Tests the model on the real codex, through the AI SDK where its behaviour matters.
import { callTool, gate, headers, run, say, think, usage, waitFor } from "@codexkit/scripted-model";
import { generateText, isStepCount, streamText, tool } from "ai";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codexStage, ofType, partsOf, userPrompt, textOf } from "../../test/codex-stage.ts";

describe("a call", () => {
  it("returns the text, the finish reason and the response metadata", async () => {
    await using stage = await codexStage([[say("Hello.")], [say("Hello again.")]]);
    const result = await generateText({ model: stage.codex(), prompt: "Hi" });
    expect(result.text).toBe("Hello.");
    expect(result.finishReason).toBe("stop");
    expect(result.rawFinishReason).toBe("completed");
    expect(result.warnings).toEqual([]);
    expect(result.response).toMatchObject({
      id: result.providerMetadata?.["codex"]?.["turnId"],
      modelId: "mock-model",
    });
    expect(result.response.timestamp).toBeInstanceOf(Date);
    const { request } = await stage.codex().doGenerate({ prompt: userPrompt("Hi") });
    expect(request?.body).toMatchObject({ input: [{ text: "Hi" }] });
  });

  it("streams text as it arrives", async () => {
    const seen = gate();
    await using stage = await codexStage([[say(["one ", waitFor(seen), "two"])]]);
    const { textStream } = streamText({ model: stage.codex(), prompt: "count" });
    const texts: string[] = [];
    for await (const text of textStream) {
      texts.push(text);
      seen.open();
    }
    expect(texts).toEqual(["one ", "two"]);
  });

  it("counts the tokens of the whole turn, including cached and reasoning tokens", async () => {
    await using stage = await codexStage([
      [run("true"), usage({ input: 1000, output: 50, cached: 400, reasoning: 20 })],
      [say("done"), usage({ input: 100, output: 20, cached: 40 })],
    ]);
    const { usage: counted } = await generateText({ model: stage.codex(), prompt: "go" });
    expect(counted).toMatchObject({
      inputTokens: 1100,
      inputTokenDetails: { noCacheTokens: 660, cacheReadTokens: 440, cacheWriteTokens: 0 },
      outputTokens: 70,
      outputTokenDetails: { textTokens: 50, reasoningTokens: 20 },
    });
  });

  it("keeps the order of reasoning, text and tools, streamed or not", async () => {
    const script = [
      [think("First", { raw: "raw first" }), say("I look.", { phase: "commentary" }), run("echo hi")],
      [say("Done.", { phase: "final_answer" })],
    ] as const;
    await using stage = await codexStage([...script, ...script].map((parts) => [...parts]));
    const { content } = await stage.codex().doGenerate({ prompt: userPrompt("go") });
    const shape = content.map((part) => ("text" in part ? `${part.type}: ${part.text}` : part.type));
    expect(shape).toEqual([
      "reasoning: First",
      "reasoning: raw first",
      "text: I look.",
      "tool-call",
      "tool-result",
      "text: Done.",
    ]);
    const parts = await partsOf(stage.codex(), { prompt: userPrompt("go") });
    // Whether a preliminary result appears depends on timing.
    const settled = parts.filter((part) => part.type !== "tool-result" || part.preliminary !== true);
    const order = settled.map(({ type }) => type).filter((type) => !/^tool-input|delta$/.test(type));
    expect(order).toEqual([
      "stream-start",
      "response-metadata",
      "reasoning-start",
      "reasoning-end",
      "reasoning-start",
      "reasoning-end",
      "text-start",
      "text-end",
      "tool-call",
      "tool-result",
      "text-start",
      "text-end",
      "finish",
    ]);
    expect(ofType(parts, "text-start").map((part) => part.providerMetadata)).toMatchObject([
      { codex: { phase: "commentary" } },
      { codex: { phase: "final_answer" } },
    ]);
    expect(ofType(parts, "reasoning-start").map((part) => part.providerMetadata)).toMatchObject([
      { codex: { reasoning: "summary" } },
      { codex: { reasoning: "raw" } },
    ]);
  });

  it("emits a message that arrives without deltas", async () => {
    await using stage = await codexStage([[say("At once.", { stream: false })]]);
    expect(textOf(await partsOf(stage.codex(), { prompt: userPrompt("go") }))).toBe("At once.");
  });

  it("streams Codex's own messages only with includeRawChunks", async () => {
    await using stage = await codexStage([[say("a")], [say("b")]]);
    const quiet = await partsOf(stage.codex(), { prompt: userPrompt("go") });
    expect(ofType(quiet, "raw")).toEqual([]);
    const loud = await partsOf(stage.codex(), { prompt: userPrompt("go"), includeRawChunks: true });
    const methods = ofType(loud, "raw").map(({ rawValue }) => (rawValue as { method?: string }).method);
    expect(methods).toEqual(expect.arrayContaining(["turn/started", "item/completed", "turn/completed"]));
  });

  it("reports the model that answered", async () => {
    await using stage = await codexStage([[headers({ "openai-model": "gpt-other" }), say("a")]]);
    const result = await generateText({ model: stage.codex("gpt-5.5"), prompt: "go" });
    expect(stage.model.requests[0]?.model).toBe("gpt-5.5");
    expect(result.response.modelId).toBe("gpt-other");
  });

  it("reports the model that answered in later steps of the turn too", async () => {
    await using stage = await codexStage([
      [headers({ "openai-model": "gpt-other" }), callTool("look", {})],
      [say("a")],
    ]);
    const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
    const { steps } = await generateText({
      model: stage.codex("gpt-5.5"),
      prompt: "go",
      tools: { look },
      stopWhen: isStepCount(2),
    });
    expect(steps.map(({ response }) => response.modelId)).toEqual(["gpt-other", "gpt-other"]);
  });
});

describe("call settings", () => {
  it("cause a warning if Codex does not support them, and only then", async () => {
    await using stage = await codexStage([[say("a")]]);
    const { warnings = [] } = await generateText({
      model: stage.codex(),
      prompt: "go",
      temperature: 0.1,
      topP: 0.2,
      topK: 3,
      seed: 4,
      maxOutputTokens: 5,
      presencePenalty: 0.6,
      frequencyPenalty: 0.7,
      stopSequences: ["8"],
      headers: { "x-nine": "9" },
      toolChoice: "auto",
    });
    expect(new Set(warnings.map((warning) => "feature" in warning && warning.feature))).toEqual(
      new Set([
        "frequencyPenalty",
        "headers",
        "maxOutputTokens",
        "presencePenalty",
        "seed",
        "stopSequences",
        "temperature",
        "topK",
        "topP",
      ]),
    );
  });

  it("set the turn's effort, under either name, and summary", async () => {
    await using stage = await codexStage([[say("a")], [say("b")], [say("c")]], {
      modelName: "gpt-5.5",
      effort: "low",
      summary: "detailed",
    });
    await generateText({ model: stage.codex(), prompt: "go" });
    await generateText({
      model: stage.codex(),
      prompt: "go",
      providerOptions: { codex: { effort: "medium" } },
    });
    await generateText({
      model: stage.codex(),
      prompt: "go",
      reasoning: "high",
      providerOptions: { codex: { effort: "medium" } },
    });
    const reasoning = stage.model.requests.map(({ body }) => body["reasoning"]);
    expect(reasoning).toMatchObject([
      { effort: "low", summary: "detailed" },
      { effort: "medium" },
      { effort: "high" },
    ]);
  });

  it("add the skills and files that the text mentions", async () => {
    await using stage = await codexStage([[say("a")]]);
    // Codex accepts only skills that are in its home, and ignores other paths.
    const folder = join(stage.stage.codexHome, "skills", "knots");
    const path = join(folder, "SKILL.md");
    await mkdir(folder, { recursive: true });
    await writeFile(path, "---\nname: knots\ndescription: Ties knots\n---\nUse a bowline.\n");
    await generateText({
      model: stage.codex(),
      prompt: "Use $knots on @rope",
      providerOptions: {
        codex: { skills: [{ name: "knots", path }], mentions: [{ name: "rope", path: "rope.txt" }] },
      },
    });
    expect(JSON.stringify(stage.model.requests[0]?.input)).toContain("Use a bowline.");
  });

  it("are rejected if they are unknown", async () => {
    await using stage = await codexStage([]);
    const call = generateText({
      model: stage.codex(),
      prompt: "go",
      providerOptions: { codex: { sandbx: "read-only" } },
    });
    await expect(call).rejects.toMatchObject({ code: "invalid_options" });
    await expect(call).rejects.toThrow("sandbx");
  });

  it("are rejected if Codex can't use them", async () => {
    await using stage = await codexStage([]);
    const call = generateText({
      model: stage.codex(),
      prompt: "go",
      providerOptions: { codex: { cwd: "somewhere/else" } },
    });
    await expect(call).rejects.toMatchObject({ code: "invalid_options" });
    const tools = { exec: tool({ inputSchema: z.object({}), execute: () => "" }) };
    await expect(generateText({ model: stage.codex(), prompt: "go", tools })).rejects.toThrow("exec");
  });

  it("pass system messages as developer instructions", async () => {
    await using stage = await codexStage([[say("a")]], { instructions: "From settings." });
    await generateText({ model: stage.codex(), system: "From the system.", prompt: "go" });
    const developer = stage.model.requests[0]?.input.filter(({ role }) => role === "developer");
    expect(JSON.stringify(developer)).toContain(String.raw`From settings.\n\nFrom the system.`);
  });
});

describe("an aborted call", () => {
  it("interrupts the turn and keeps the parts that arrived", async () => {
    const never = gate();
    await using stage = await codexStage([[say(["so far", waitFor(never), "never"])]]);
    const abort = new AbortController();
    const { stream } = await stage.codex().doStream({ prompt: userPrompt("go"), abortSignal: abort.signal });
    const parts = [];
    for await (const part of stream) {
      parts.push(part);
      if (part.type === "text-delta") abort.abort();
    }
    expect(textOf(parts)).toBe("so far");
    expect(parts.slice(-2).map(({ type }) => type)).toEqual(["text-end", "finish"]);
    expect(parts.at(-1)).toMatchObject({ finishReason: { unified: "interrupted" } });
    expect(await stage.model.requests[0]?.ended).toBe("abandoned");
  });

  it("ends the AI SDK's stream with an abort part, not an error", async () => {
    const never = gate();
    await using stage = await codexStage([[say(["so far", waitFor(never)])]]);
    const abort = new AbortController();
    const errors: unknown[] = [];
    const { fullStream } = streamText({
      model: stage.codex(),
      prompt: "go",
      abortSignal: abort.signal,
      onError: ({ error }) => void errors.push(error),
    });
    const types: string[] = [];
    for await (const { type } of fullStream) {
      types.push(type);
      if (type === "text-delta") abort.abort();
    }
    expect(types).toContain("abort");
    expect(errors).toEqual([]);
    expect(await stage.model.requests[0]?.ended).toBe("abandoned");
  });

  it("rejects with the signal's reason", async () => {
    const never = gate();
    await using stage = await codexStage([[waitFor(never)]]);
    const abort = new AbortController();
    const call = stage.codex().doGenerate({ prompt: userPrompt("go"), abortSignal: abort.signal });
    await stage.model.waitForRequests(1);
    abort.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await expect(
      stage
        .codex()
        .doGenerate({ prompt: userPrompt("go"), abortSignal: AbortSignal.abort(new Error("before")) }),
    ).rejects.toThrow("before");
    expect(stage.model.requests).toHaveLength(1);
  });

  it("interrupts the turn when its reader cancels the stream", async () => {
    const never = gate();
    await using stage = await codexStage([[say(["so far", waitFor(never)])]]);
    const { stream } = await stage.codex().doStream({ prompt: userPrompt("go") });
    for await (const part of stream) if (part.type === "text-delta") break;
    expect(await stage.model.requests[0]?.ended).toBe("abandoned");
  });
});
