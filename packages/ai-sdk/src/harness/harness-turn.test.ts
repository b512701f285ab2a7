import type { HarnessV1StreamPart } from "@ai-sdk/harness";
import type {
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { convertArrayToReadableStream } from "@ai-sdk/provider-utils/test";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { HarnessTurn } from "./harness-turn.ts";
import { StepRequests } from "./step-requests.ts";
import type { StepAnswers } from "../prompt/read-answers.ts";

const usage = (total: number): LanguageModelV4Usage => ({
  inputTokens: { total, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
});
const start: LanguageModelV4StreamPart = { type: "stream-start", warnings: [] };
const call: LanguageModelV4StreamPart = {
  type: "tool-call",
  toolCallId: "c1",
  toolName: "look",
  input: "{}",
  providerMetadata: { codex: { threadId: "t", turnId: "u" } },
};
const finish = (unified: "stop" | "tool-calls" | "interrupted", total = 1): LanguageModelV4StreamPart => ({
  type: "finish",
  finishReason: { unified, raw: undefined },
  usage: usage(total),
});

/** Creates a turn whose model plays one list of parts per call. `firstStep` resolves when the turn has handled the first list. */
function turnOf(
  steps: readonly (readonly LanguageModelV4StreamPart[])[],
  { requests, bufferedParts }: { requests?: StepRequests; bufferedParts?: number } = {},
): { turn: HarnessTurn; answers: StepAnswers[]; firstStep: Promise<void> } {
  const answers: StepAnswers[] = [];
  const first = Promise.withResolvers<void>();
  let calls = 0;
  const play = async (): Promise<LanguageModelV4StreamResult> => {
    calls += 1;
    return { stream: convertArrayToReadableStream([...(steps[calls - 1] ?? [])]) };
  };
  const turn = new HarnessTurn(
    {
      startTurn: play,
      continueTurn: async (given) => {
        answers.push(given);
        return play();
      },
      steer: async () => {},
      onPart: ({ type }) => {
        if (type === "finish" || type === "error") first.resolve();
      },
      wasCompacted: false,
      ...(bufferedParts === undefined ? {} : { bufferedParts }),
    },
    requests,
  );
  // The turn receives the part in the same tick, and has handled it by the next.
  return { turn, answers, firstStep: first.promise.then(() => setImmediate()) };
}

describe("a harness turn", () => {
  it("is a single stream with the tokens of all its steps", async () => {
    const { turn, answers, firstStep } = turnOf([
      [start, call, finish("tool-calls", 2)],
      [start, finish("stop", 3)],
    ]);
    const seen: HarnessV1StreamPart[] = [];
    const control = turn.attach((part) => seen.push(part), undefined);
    turn.start([]);
    await firstStep;
    await control.submitToolResult({ toolCallId: "c1", output: { sky: "snow" } });
    // The next step ignores a second answer.
    await control.submitToolResult({ toolCallId: "c1", output: "again" });
    await control.done;
    expect(seen.map(({ type }) => type)).toEqual([
      "stream-start",
      "tool-call",
      "finish-step",
      "finish-step",
      "finish",
    ]);
    expect(seen.at(-1)).toMatchObject({ totalUsage: { inputTokens: { total: 5 } } });
    expect(answers).toMatchObject([
      {
        origin: { threadId: "t", turnId: "u" },
        calls: [{ toolCallId: "c1", toolName: "look" }],
        toolResults: [{ toolCallId: "c1", output: { type: "json", value: { sky: "snow" } } }],
        approvals: [],
      },
    ]);
  });

  it("emits each tool result once, under the names that harnesses share", async () => {
    const result = { type: "tool-result", toolCallId: "c2", toolName: "codex_exec", dynamic: true } as const;
    const { turn } = turnOf([
      [
        start,
        { ...call, toolCallId: "c2", toolName: "codex_exec", providerExecuted: true, dynamic: true },
        { ...result, result: "a", preliminary: true },
        { ...result, result: "ab" },
        { type: "tool-result", toolCallId: "c3", toolName: "mcp__till__pay", result: "paid", dynamic: true },
        { type: "custom", kind: "codex.context_compaction" },
        { type: "custom", kind: "codex.agent_activity" },
        { type: "ping" },
        finish("stop"),
      ],
    ]);
    const seen: HarnessV1StreamPart[] = [];
    const control = turn.attach((part) => seen.push(part), undefined);
    turn.start([]);
    await control.done;
    expect(seen.slice(1, -2)).toMatchObject([
      { type: "tool-call", toolName: "bash", nativeName: "codex_exec", providerExecuted: true },
      { type: "tool-result", toolName: "bash", result: "ab" },
      { type: "tool-result", toolName: "mcp__till__pay", dynamic: true },
      { type: "compaction", trigger: "auto" },
      { type: "raw", rawValue: { kind: "codex.agent_activity" } },
    ]);
    expect(seen[1]).not.toHaveProperty("dynamic");
  });

  it("continues after the answer to another process's request", async () => {
    const before = new StepRequests();
    before.add({ ...call, providerExecuted: true });
    before.add({ type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" });
    const requests = StepRequests.from(
      JSON.parse(JSON.stringify(before)) as ReturnType<StepRequests["toJSON"]>,
    );
    const { turn, answers } = turnOf([[start, finish("interrupted")]], { requests });
    const seen: HarnessV1StreamPart[] = [];
    const control = turn.attach((part) => seen.push(part), undefined);
    await control.submitToolApproval?.({ approvalId: "a1", approved: false, reason: "no" });
    await control.done;
    expect(answers).toMatchObject([
      {
        origin: { threadId: "t", turnId: "u" },
        toolResults: [],
        approvals: [{ approvalId: "a1", approved: false, reason: "no" }],
      },
    ]);
    expect(seen.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "other" } });
  });

  it("delivers the parts and the error that arrived without a host to the next host", async () => {
    const { turn, firstStep } = turnOf([[start, { type: "error", error: new Error("broken") }]]);
    turn.start([]);
    await firstStep;
    const seen: string[] = [];
    const control = turn.attach(({ type }) => seen.push(type), undefined);
    await expect(control.done).rejects.toThrow("broken");
    expect(seen).toEqual(["stream-start"]);
  });

  it("is stopped when it buffers too many parts without a host", async () => {
    const { turn, firstStep } = turnOf([[start, call, call, call, finish("stop")]], { bufferedParts: 2 });
    turn.start([]);
    await firstStep;
    await expect(turn.attach(() => {}, undefined).done).rejects.toThrow("More than 2 parts");
  });
});
