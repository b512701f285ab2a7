// Events that the real codex can't be made to send in time, or at all.
import type { CodexEvent, TurnResult, v2 } from "codexkit";
import { describe, expect, it } from "vitest";
import { ofType, textOf } from "../../test/codex-stage.ts";
import { pixel } from "../../test/pixel.ts";
import { readText } from "./answer-reader.ts";
import { OutputPace } from "./output-pace.ts";
import { TurnParts } from "./turn-parts.ts";

const place = { threadId: "thread", turnId: "turn" };

function turnParts(): TurnParts {
  return new TurnParts({ ...place, readAnswer: readText });
}

function play(parts: TurnParts, ...events: object[]): ReturnType<TurnParts["event"]> {
  return events.flatMap((event) => parts.event({ ...place, ...event } as CodexEvent));
}

const command = (more: object = {}): v2.ThreadItem =>
  ({
    type: "commandExecution",
    id: "c",
    command: "make",
    cwd: "/",
    status: "inProgress",
    aggregatedOutput: null,
    exitCode: null,
    durationMs: null,
    ...more,
  }) as v2.ThreadItem;

const result: TurnResult = {
  ...place,
  status: "completed",
  finalResponse: "",
  items: [],
  openItems: [],
  usage: {
    totalTokens: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 0,
    reasoningOutputTokens: 0,
  },
  diff: "",
  plan: [],
  durationMs: null,
  structured: undefined,
};

describe("the output of a running command", () => {
  it("is complete in each preliminary result, and in the final one", () => {
    const parts = play(
      turnParts(),
      { type: "item.started", item: command() },
      { type: "item.delta", kind: "command_output", itemId: "c", delta: "one\n" },
      { type: "item.delta", kind: "command_output", itemId: "c", delta: "two\n" },
      {
        type: "item.completed",
        item: command({ status: "completed", exitCode: 0, aggregatedOutput: "one\ntwo\n" }),
      },
    );
    expect(ofType(parts, "tool-result")).toMatchObject([
      { preliminary: true, result: { output: "one\n" } },
      { preliminary: true, result: { output: "one\ntwo\n" } },
      { result: { output: "one\ntwo\n", exitCode: 0 } },
    ]);
  });

  it("is final when the turn ends before the command does", () => {
    const parts = turnParts();
    play(parts, { type: "item.started", item: command() });
    const end = parts.end({ type: "turn.completed", ...place, result });
    expect(ofType(end, "tool-result")).toMatchObject([{ toolCallId: "c", result: { status: "unfinished" } }]);
    expect(ofType(end, "tool-result")[0]?.preliminary).toBeUndefined();
  });

  it("is streamed at growing intervals, however fast it grows and however long it runs", () => {
    let now = 0;
    const quick = new OutputPace(() => now);
    const lengths = Array.from({ length: 100_000 }, (_, index) => index + 1);
    expect(lengths.filter((length) => quick.isDue(length)).length).toBeLessThan(40);
    now = 250;
    expect(quick.isDue(100_001)).toBe(true);
    const slow = new OutputPace(() => now);
    const times = lengths.map((length) => ({ length, at: 250 + length * 100 }));
    const shown = times.filter(({ length, at }) => {
      now = at;
      return slow.isDue(length);
    });
    expect(shown.length).toBeLessThan(100);
  });

  it("is limited to its end while the command runs, and complete afterwards", () => {
    const long = "x".repeat(20_000);
    const parts = play(
      turnParts(),
      { type: "item.started", item: command() },
      { type: "item.delta", kind: "command_output", itemId: "c", delta: long },
      { type: "item.completed", item: command({ status: "completed", exitCode: 0, aggregatedOutput: long }) },
    );
    expect(ofType(parts, "tool-result")).toMatchObject([
      { preliminary: true, result: { omitted: 20_000 - 16_384 } },
      { result: { output: long } },
    ]);
  });
});

describe("a message", () => {
  const message = (text: string): object => ({ type: "agentMessage", id: "m", text, phase: null });

  it("is completed from the item if a slow reader missed part of it", () => {
    const parts = play(
      turnParts(),
      { type: "item.started", item: message("") },
      { type: "item.delta", kind: "message", itemId: "m", delta: "one " },
      { type: "item.delta", kind: "message", itemId: "m", delta: "three", omitted: 4 },
      { type: "item.completed", item: message("one two three") },
    );
    expect(textOf(parts)).toBe("one two three");
  });

  it("that continues in the next step continues in a new block", () => {
    const parts = turnParts();
    play(
      parts,
      { type: "item.started", item: message("") },
      { type: "item.delta", kind: "message", itemId: "m", delta: "one " },
    );
    const step = parts.requests([{ kind: "tool", id: "t", toolName: "add", input: {} }]);
    expect(step.map(({ type }) => type)).toEqual([
      "text-end",
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "tool-call",
      "finish",
    ]);
    const next = play(
      parts,
      { type: "item.delta", kind: "message", itemId: "m", delta: "two" },
      { type: "item.completed", item: message("one two") },
    );
    expect(next).toMatchObject([
      { type: "text-start", id: "m:2" },
      { type: "text-delta", id: "m:2", delta: "two" },
      { type: "text-end", id: "m:2" },
    ]);
  });
});

describe("reasoning", () => {
  it("has one block per part, and each ends before the next begins", () => {
    const delta = (kind: string, index: number, text: string): object => ({
      type: "item.delta",
      kind,
      itemId: "r",
      index,
      delta: text,
    });
    const parts = play(turnParts(), delta("reasoning_summary", 0, "a"), delta("reasoning_summary", 1, "b"), {
      type: "item.completed",
      item: { type: "reasoning", id: "r", summary: ["a", "b!"], content: ["raw"] },
    });
    expect(parts.map((part) => ("delta" in part ? part.delta : part.type))).toEqual([
      "reasoning-start",
      "a",
      "reasoning-end",
      "reasoning-start",
      "b",
      "!",
      "reasoning-end",
      "reasoning-start",
      "raw",
      "reasoning-end",
    ]);
  });
});

describe("Codex's own work", () => {
  it("includes images, which are files of the response", () => {
    const image = {
      type: "imageGeneration",
      id: "i",
      revisedPrompt: "a dot",
      failure: null,
      generationId: null,
    };
    const parts = play(
      turnParts(),
      { type: "item.started", item: { ...image, status: "in_progress", revisedPrompt: null, result: "" } },
      {
        type: "item.completed",
        item: { ...image, status: "completed", result: pixel, savedPath: "/dot.png" },
      },
    );
    expect(ofType(parts, "tool-call")).toMatchObject([
      { toolName: "codex_image_generation", input: '{"prompt":"a dot"}' },
    ]);
    expect(parts.slice(-2)).toMatchObject([
      { type: "tool-result", result: { status: "completed", path: "/dot.png" } },
      { type: "file", mediaType: "image/png", data: { type: "data", data: pixel } },
    ]);
  });

  it("includes web searches, which end with their pages as sources", () => {
    const search = { type: "webSearch", id: "w", query: "", action: null, results: null };
    const results = [{ url: "https://a.example", title: "A" }, { note: "no address" }, null];
    const action = { type: "search", query: "x", queries: null };
    const parts = play(
      turnParts(),
      { type: "item.started", item: search },
      { type: "item.completed", item: { ...search, query: "x", action, results } },
    );
    expect(parts.map(({ type }) => type)).toEqual([
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "tool-call",
      "tool-result",
      "source",
    ]);
    expect(ofType(parts, "source")).toMatchObject([{ url: "https://a.example", title: "A" }]);
  });

  it("includes the progress and the error of an MCP tool", () => {
    const call = {
      type: "mcpToolCall",
      id: "t",
      server: "till",
      tool: "pay",
      status: "inProgress",
      arguments: {},
      result: null,
      error: null,
    };
    const parts = play(
      turnParts(),
      { type: "item.started", item: call },
      { type: "item.delta", kind: "tool_progress", itemId: "t", delta: "half" },
      { type: "item.delta", kind: "tool_progress", itemId: "t", delta: "all" },
      { type: "item.completed", item: { ...call, status: "failed", error: { message: "no money" } } },
    );
    expect(ofType(parts, "tool-result")).toMatchObject([
      { preliminary: true, result: { progress: "half" } },
      { preliminary: true, result: { progress: "half\nall" } },
      { isError: true, result: { error: "no money" } },
    ]);
  });

  it("includes a change of the model", () => {
    const rerouted = { type: "warning", kind: "model_rerouted", message: "b for a", model: "b" };
    expect(play(turnParts(), rerouted)).toEqual([{ type: "response-metadata", id: "turn", modelId: "b" }]);
  });
});

describe("information without a stream part of its own", () => {
  it("is in the metadata of the finish part", () => {
    const parts = turnParts();
    play(parts, { type: "warning", kind: "retrying", message: "again" });
    expect(parts.end({ type: "turn.completed", ...place, result }).at(-1)).toMatchObject({
      providerMetadata: { codex: { warnings: ["again"] } },
    });
  });

  it("is a custom part if Codex has an item for it", () => {
    const compaction = { type: "contextCompaction", id: "x" };
    const activity = {
      type: "subAgentActivity",
      id: "y",
      kind: "started",
      agentThreadId: "t",
      agentPath: "/p",
    };
    const parts = play(
      turnParts(),
      { type: "item.completed", item: compaction },
      { type: "item.completed", item: activity },
    );
    expect(parts).toMatchObject([
      { type: "custom", kind: "codex.context_compaction" },
      { type: "custom", kind: "codex.sub_agent_activity", providerMetadata: { codex: { agentPath: "/p" } } },
    ]);
  });
});
