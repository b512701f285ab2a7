// Failures of the model on the real codex.
import { APICallError } from "@ai-sdk/provider";
import { cut, fail, gate, run, say, waitFor } from "@codexkit/scripted-model";
import { generateText, streamText } from "ai";
import { describe, expect, it } from "vitest";
import { codexStage, partsOf, userPrompt, textOf, threadIdOf } from "../../test/codex-stage.ts";

describe("a model that fails", () => {
  const cases = [
    ["an unknown key", fail.http(401), 401, false],
    ["a bad request, which Codex reports without a status", fail.http(400), 400, false],
    ["a forbidden request", fail.http(403), 403, false],
    ["a missing model", fail.http(404), 404, false],
    ["a request that timed out", fail.http(408), 408, true],
    ["a bad gateway", fail.http(502), 502, true],
    ["an unavailable server", fail.http(503), 503, true],
    ["a server error in the stream", fail.response("server_error"), 502, true],
    ["a stream that breaks", [say("so far"), cut()], 502, true],
    ["a rejected prompt, for which Codex has no code", fail.response("invalid_prompt"), undefined, false],
    ["too many requests", fail.http(429), 429, true],
    ["an exhausted quota", fail.http(429, { code: "insufficient_quota" }), 429, false],
    ["an overloaded server", fail.response("server_is_overloaded"), 503, true],
    ["a broken server", fail.http(500), 500, true],
  ] as const;

  it.each(cases)(
    "causes an APICallError with the status and the message: %s",
    async (_name, failure, status, isRetryable) => {
      await using stage = await codexStage([[failure].flat()]);
      const error = await stage
        .codex()
        .doGenerate({ prompt: userPrompt("go") })
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ statusCode: status, isRetryable });
      expect((error as Error).message).not.toBe("");
    },
  );

  it.each([
    ["said something", [say("so far"), cut()]],
    ["done something", [run("true")]],
  ])("is not retried for a stream once it has %s", async (_what, first) => {
    await using stage = await codexStage([first, [fail.http(500)], [say("again")]]);
    const errors: unknown[] = [];
    const { fullStream } = streamText({
      model: stage.codex(),
      prompt: "go",
      maxRetries: 1,
      onError: ({ error }) => void errors.push(error),
    });
    const parts = await Array.fromAsync(fullStream);
    expect(parts.some((part) => part.type === "text-delta" && part.text === "again")).toBe(false);
    expect(errors).toHaveLength(1);
  });

  it("can be aborted before its first part, which ends the stream immediately", async () => {
    const never = gate();
    await using stage = await codexStage(() => waitFor(never));
    const abort = new AbortController();
    const parts = partsOf(stage.codex(), { prompt: userPrompt("go"), abortSignal: abort.signal });
    await stage.model.waitForRequests(1);
    abort.abort();
    expect((await parts).at(-1)).toMatchObject({ finishReason: { unified: "interrupted" } });
  });

  it("is not retried once the turn has had side effects", async () => {
    await using stage = await codexStage([[run("true")], [fail.response("server_is_overloaded")]]);
    const call = generateText({ model: stage.codex(), prompt: "go", maxRetries: 1 });
    await expect(call).rejects.toMatchObject({ statusCode: 503, isRetryable: false });
    expect(stage.model.requests).toHaveLength(2);
  });

  it("ends a stream with an error after the earlier parts", async () => {
    await using stage = await codexStage([[say("so far"), fail.response("invalid_prompt")]]);
    const parts = await partsOf(stage.codex(), { prompt: userPrompt("go") });
    expect(textOf(parts)).toBe("so far");
    expect(parts.slice(-2)).toMatchObject([
      { type: "error", error: { name: "AI_APICallError" } },
      { type: "finish", finishReason: { unified: "error" } },
    ]);
  });

  it.each([
    ["context_length_exceeded", "length", "contextWindowExceeded"],
    ["cyber_policy", "content-filter", "cyberPolicy"],
    ["max_output_tokens", "length", "maxOutputTokens"],
    ["content_filter", "content-filter", "contentFilter"],
  ] as const)("ends with a finish reason and without an error: %s", async (code, unified, raw) => {
    const failure =
      code === "max_output_tokens" || code === "content_filter" ? fail.incomplete(code) : fail.response(code);
    await using stage = await codexStage([[say("so far"), failure]]);
    const result = await generateText({ model: stage.codex(), prompt: "go" });
    expect(result).toMatchObject({ text: "so far", finishReason: unified, rawFinishReason: raw });
    expect(result.providerMetadata?.["codex"]).toHaveProperty("error");
  });
});

// The AI SDK waits two seconds before a retry, so these tests run concurrently.
describe.concurrent("a model that fails once", () => {
  it("is retried by the AI SDK if that may help", async () => {
    await using stage = await codexStage([[fail.response("server_is_overloaded")], [say("there")]]);
    const { text } = await generateText({ model: stage.codex(), prompt: "go", maxRetries: 1 });
    expect(text).toBe("there");
  });

  it.each([false, true])(
    "is retried for a stream without parts so far, with raw events: %s",
    async (includeRawChunks) => {
      await using stage = await codexStage([[fail.http(500)], [say("there")]]);
      const errors: unknown[] = [];
      const { text, warnings } = streamText({
        model: stage.codex(),
        prompt: "go",
        maxRetries: 1,
        includeRawChunks,
        onError: ({ error }) => void errors.push(error),
      });
      expect(await text).toBe("there");
      expect(await warnings).toEqual([]);
      expect(errors).toEqual([]);
      expect(stage.model.requests).toHaveLength(2);
    },
  );

  it("does not receive the message twice when a call on a named thread is retried", async () => {
    let requests = 0;
    await using stage = await codexStage(({ lastUserText }) => {
      if (lastUserText === "start") return say("Started.");
      requests += 1;
      return requests === 1 ? fail.response("server_is_overloaded") : say("there");
    });
    const { providerMetadata } = await generateText({ model: stage.codex(), prompt: "start" });
    const threadId = threadIdOf(providerMetadata);
    const call = (prompt: string) =>
      generateText({
        model: stage.codex(),
        prompt,
        maxRetries: 1,
        providerOptions: { codex: { threadId } },
      });
    expect((await call("go once")).text).toBe("there");
    const seen = () => JSON.stringify(stage.model.requests.at(-1)?.input).split("go once").length - 1;
    expect(seen()).toBe(1);
    // After an answer, the same text is a new message.
    await call("go once");
    expect(seen()).toBe(2);
  });
});
