// What goes wrong, on the real codex where it can be made to, and on a fake one.
import { APICallError } from "@ai-sdk/provider";
import { callTool, cut, fail, gate, run, say, waitFor } from "@codexkit/scripted-model";
import { type FakeAction, type FakeBehaviour, fakeAppServerCommand } from "@codexkit/testing";
import { generateText, isStepCount, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codexStage, ofType, partsOf, responseText, textOf, threadIdOf } from "./codex-stage.ts";
import { pixel } from "./pixel.ts";
import { CodexModelError, type CodexProvider, createCodex } from "../src/index.ts";

describe("a model that fails", () => {
  const cases = [
    ["an unknown key", fail.http(401), 401, false],
    ["a bad request, which Codex reports without a status", fail.http(400), 400, false],
    ["a forbidden request", fail.http(403), 403, false],
    ["a model that is not there", fail.http(404), 404, false],
    ["a request that timed out", fail.http(408), 408, true],
    ["a bad gateway", fail.http(502), 502, true],
    ["an unavailable server", fail.http(503), 503, true],
    ["a server error in the stream", fail.response("server_error"), 502, true],
    ["a stream that breaks", [say("so far"), cut()], 502, true],
    ["a refused prompt, which Codex gives no name to", fail.response("invalid_prompt"), undefined, false],
    ["too many requests", fail.http(429), 429, true],
    ["a quota that is used up", fail.http(429, { code: "insufficient_quota" }), 429, false],
    ["an overloaded server", fail.response("server_is_overloaded"), 503, true],
    ["a broken server", fail.http(500), 500, true],
  ] as const;

  it.each(cases)(
    "is an APICallError with the status and the message: %s",
    async (_name, failure, status, isRetryable) => {
      await using stage = await codexStage([[failure].flat()]);
      const error = await stage
        .codex()
        .doGenerate({ prompt: responseText("go") })
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ statusCode: status, isRetryable });
      expect((error as Error).message).not.toBe("");
    },
  );

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

  it("ends a stream immediately when the call is aborted before its first part", async () => {
    const never = gate();
    await using stage = await codexStage(() => waitFor(never));
    const abort = new AbortController();
    const parts = partsOf(stage.codex(), { prompt: responseText("go"), abortSignal: abort.signal });
    await stage.model.waitForRequests(1);
    abort.abort();
    expect((await parts).at(-1)).toMatchObject({ finishReason: { unified: "interrupted" } });
  });

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
    // The same words again, after an answer, are a new message.
    await call("go once");
    expect(seen()).toBe(2);
  });

  it("is not retried once the turn has had effects", async () => {
    await using stage = await codexStage([[run("true")], [fail.response("server_is_overloaded")]]);
    const call = generateText({ model: stage.codex(), prompt: "go", maxRetries: 1 });
    await expect(call).rejects.toMatchObject({ statusCode: 503, isRetryable: false });
    expect(stage.model.requests).toHaveLength(2);
  });

  it("ends a stream with an error after the earlier parts", async () => {
    await using stage = await codexStage([[say("so far"), fail.response("invalid_prompt")]]);
    const parts = await partsOf(stage.codex(), { prompt: responseText("go") });
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

describe("a codex that dies during a turn", () => {
  it("ends the stream with an error immediately", async () => {
    const never = gate();
    await using stage = await codexStage([[say(["so far", waitFor(never)])]]);
    const errors: unknown[] = [];
    const { fullStream } = streamText({
      model: stage.codex(),
      prompt: "go",
      onError: ({ error }) => void errors.push(error),
    });
    let text = "";
    for await (const part of fullStream) {
      if (part.type !== "text-delta") continue;
      text += part.text;
      process.kill(stage.stage.codex.pid ?? 0, "SIGKILL");
    }
    expect(text).toBe("so far");
    expect(errors).toMatchObject([{ code: "codex_lost" }]);
    expect(CodexModelError.isInstance(errors[0])).toBe(true);
  });

  it("rejects the call, and the next call launches another codex", async () => {
    const never = gate();
    await using stage = await codexStage(({ lastUserText }) =>
      lastUserText === "die" ? waitFor(never) : say("alive"),
    );
    const call = generateText({ model: stage.codex(), prompt: "die" });
    await stage.model.waitForRequests(1);
    process.kill(stage.stage.codex.pid ?? 0, "SIGKILL");
    await expect(call).rejects.toMatchObject({ code: "codex_lost" });
    const { text } = await generateText({ model: stage.codex(), prompt: "live" });
    expect(text).toBe("alive");
  });

  it("between two steps, after a tool has run, does not stop the loop: it continues with the tool's result", async () => {
    for (const persist of [false, true]) {
      let runs = 0;
      await using stage = await codexStage(
        ({ input }) =>
          JSON.stringify(input).includes("receipt 7") ? say("Paid once.") : callTool("pay", {}),
        { persist },
      );
      const pay = tool({
        inputSchema: z.object({}),
        execute: async () => {
          runs += 1;
          const { codex } = stage.stage;
          const pid = codex.pid ?? 0;
          process.kill(pid, "SIGKILL");
          await expect.poll(() => codex.pid).not.toBe(pid);
          return "receipt 7";
        },
      });
      const { text, steps } = await generateText({
        model: stage.codex(),
        prompt: "pay",
        tools: { pay },
        stopWhen: isStepCount(3),
      });
      expect({ text, runs }).toEqual({ text: "Paid once.", runs: 1 });
      expect(steps[1]?.warnings).toMatchObject([{ message: expect.stringContaining("new thread") }]);
    }
  });

  it("after it received a tool's result causes an error that carries the result", async () => {
    const never = gate();
    await using stage = await codexStage(({ newOutputs }) =>
      newOutputs.length === 0 ? callTool("pay", {}) : waitFor(never),
    );
    const pay = tool({ inputSchema: z.object({}), execute: () => "receipt 7" });
    const call = generateText({
      model: stage.codex(),
      prompt: "pay",
      tools: { pay },
      stopWhen: isStepCount(3),
    });
    const failed = call.then(
      () => undefined,
      (error: unknown) => error,
    );
    await stage.model.waitForRequests(2);
    process.kill(stage.stage.codex.pid ?? 0, "SIGKILL");
    expect(await failed).toMatchObject({
      code: "codex_lost",
      toolResults: [{ toolName: "pay", output: { type: "text", value: "receipt 7" } }],
    });
  });

  it("is codex_unavailable if it can't start", async () => {
    await using codex = createCodex({ launch: { codexPath: "/nowhere/codex" } });
    await expect(generateText({ model: codex(), prompt: "go" })).rejects.toMatchObject({
      code: "codex_unavailable",
    });
  });
});

describe("a prompt with a file whose data is text", () => {
  it("is read like any other", async () => {
    await using stage = await codexStage([[say("read")]]);
    const { text } = await generateText({
      model: stage.codex(),
      messages: [
        {
          role: "user",
          content: [{ type: "file", mediaType: "text/plain", data: { type: "text", text: "file's words" } }],
        },
      ],
    });
    expect(text).toBe("read");
    expect(JSON.stringify(stage.model.requests[0]?.input)).toContain("file's words");
  });
});

const threadId = "thread-1";
const turnId = "turn-1";
const turn = {
  id: turnId,
  items: [],
  itemsView: "notLoaded",
  status: "inProgress",
  error: null,
  durationMs: null,
};

/** A provider on a server that does as it is told. */
function onFake(behaviour: FakeBehaviour): CodexProvider {
  const { command, args } = fakeAppServerCommand(behaviour);
  return createCodex({ launch: { codexPath: command, wrapperArgs: args } });
}

function notify(method: string, params: object): FakeAction {
  return { do: "notify", method, params };
}

function message(id: string, text: string, inThread = threadId, inTurn = turnId): FakeAction[] {
  const item = { type: "agentMessage", id, text, phase: null };
  const place = { threadId: inThread, turnId: inTurn };
  return [
    notify("item/started", { ...place, item: { ...item, text: "" }, startedAtMs: 1 }),
    notify("item/agentMessage/delta", { ...place, itemId: id, delta: text }),
    notify("item/completed", { ...place, item, completedAtMs: 1 }),
  ];
}

describe("subagents", () => {
  const child = "thread-child";
  const childTurn = { ...turn, id: "turn-child" };
  const counts = { inputTokens: 900, cachedInputTokens: 0, outputTokens: 90, reasoningOutputTokens: 0 };
  const tokens = { totalTokens: 990, cacheWriteInputTokens: 0, ...counts };
  const spawn = {
    type: "collabAgentToolCall",
    id: "spawn",
    tool: "spawnAgent",
    status: "completed",
    senderThreadId: threadId,
    receiverThreadIds: [child],
    prompt: "look around",
    model: null,
    reasoningEffort: null,
    agentsStates: { [child]: { status: "running", message: null } },
  };
  const spawned = [
    notify("item/started", { threadId, turnId, item: spawn, startedAtMs: 1 }),
    notify("item/completed", { threadId, turnId, item: spawn, completedAtMs: 1 }),
  ];
  const start: FakeAction[] = [
    { do: "reply", result: { turn } },
    notify("turn/started", { threadId, turn }),
    ...spawned,
    notify("turn/started", { threadId: child, turn: childTurn }),
  ];
  const completed = notify("turn/completed", { threadId, turn: { ...turn, status: "completed" } });

  it("appear as calls; their text, tokens and ends are not those of the parent", async () => {
    await using codex = onFake({
      on: {
        "turn/start": [
          ...start,
          ...message("c1", "child's words", child, "turn-child"),
          notify("thread/tokenUsage/updated", {
            threadId: child,
            turnId: "turn-child",
            tokenUsage: { total: tokens, last: tokens, modelContextWindow: null },
          }),
          notify("turn/completed", { threadId: child, turn: { ...childTurn, status: "completed" } }),
          ...message("m1", "parent's words"),
          completed,
        ],
      },
    });
    const parts = await partsOf(codex(), { prompt: responseText("go") });
    expect(textOf(parts)).toBe("parent's words");
    expect(ofType(parts, "tool-call")).toMatchObject([
      { toolName: "codex_spawn_agent", providerExecuted: true, dynamic: true },
    ]);
    expect(ofType(parts, "finish")).toMatchObject([
      { finishReason: { unified: "stop" }, usage: { inputTokens: { total: undefined } } },
    ]);
  });

  it("request their approvals in the parent's stream", async () => {
    await using codex = onFake({
      on: {
        "turn/start": [
          ...start,
          {
            do: "request",
            id: 7,
            method: "item/commandExecution/requestApproval",
            params: {
              kind: "command",
              threadId: child,
              turnId: "turn-child",
              itemId: "child-command",
              startedAtMs: 1,
              environmentId: null,
              command: "rm x",
            },
          },
        ],
        "turn/interrupt": [{ do: "reply", result: {} }, completed],
      },
    });
    const first = await partsOf(codex(), { prompt: responseText("go") });
    expect(first.slice(-3)).toMatchObject([
      { type: "tool-call", toolCallId: "child-command", input: '{"command":"rm x"}' },
      { type: "tool-approval-request", toolCallId: "child-command" },
      { type: "finish", finishReason: { unified: "tool-calls" } },
    ]);
  });
});

describe("events that the real codex sends only with an account", () => {
  const at = { threadId, turnId };
  const shown = async (...actions: FakeAction[]) => {
    await using codex = onFake({
      on: {
        "turn/start": [
          { do: "reply", result: { turn } },
          notify("turn/started", { threadId, turn }),
          ...actions,
          ...message("m1", "Done."),
          notify("turn/completed", { threadId, turn: { ...turn, status: "completed" } }),
        ],
      },
    });
    return await partsOf(codex(), { prompt: responseText("go") });
  };

  it("include images, which are files before the text that follows", async () => {
    const image = {
      type: "imageGeneration",
      id: "i",
      revisedPrompt: "a dot",
      failure: null,
      generationId: null,
    };
    const started = { ...image, status: "in_progress", revisedPrompt: null, result: "" };
    const completed = { ...image, status: "completed", result: pixel, savedPath: "/dot.png" };
    const parts = await shown(
      notify("item/started", { ...at, item: started, startedAtMs: 1 }),
      notify("item/completed", { ...at, item: completed, completedAtMs: 2 }),
    );
    expect(ofType(parts, "file")).toMatchObject([
      { mediaType: "image/png", data: { type: "data", data: pixel } },
    ]);
    const order = parts.map(({ type }) => type);
    expect(order.indexOf("file")).toBeLessThan(order.indexOf("text-start"));
  });

  it("include a change of the model", async () => {
    const reason = "highRiskCyberActivity";
    const parts = await shown(notify("model/rerouted", { ...at, fromModel: "a", toModel: "b", reason }));
    expect(ofType(parts, "response-metadata").at(-1)).toMatchObject({ modelId: "b" });
  });
});
