import type { HarnessV1StreamPart } from "@ai-sdk/harness";
import type {
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { convertArrayToReadableStream } from "@ai-sdk/provider-utils/test";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { HarnessTurn } from "./harness-turn.ts";
import { StepAsks } from "./step-asks.ts";

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

/** A turn whose model plays one list of parts a call; `hears` resolves at the end of the first. */
function turnOf(
  steps: readonly (readonly LanguageModelV4StreamPart[])[],
  { asks, unseenParts }: { asks?: StepAsks; unseenParts?: number } = {},
): { turn: HarnessTurn; prompts: LanguageModelV4Prompt[]; hears: Promise<void> } {
  const prompts: LanguageModelV4Prompt[] = [];
  const heard = Promise.withResolvers<void>();
  const turn = new HarnessTurn(
    {
      call: async (prompt): Promise<LanguageModelV4StreamResult> => {
        prompts.push(prompt);
        return { stream: convertArrayToReadableStream([...(steps[prompts.length - 1] ?? [])]) };
      },
      steer: async () => {},
      onPart: ({ type }) => {
        if (type === "finish" || type === "error") heard.resolve();
      },
      wasCompacted: false,
      ...(unseenParts === undefined ? {} : { unseenParts }),
    },
    asks,
  );
  // The turn itself hears of it in the same tick, and is done with it in the next.
  return { turn, prompts, hears: heard.promise.then(() => setImmediate()) };
}

describe("a turn of a harness", () => {
  it("is one stream, whose tokens are those of all its steps", async () => {
    const { turn, prompts, hears } = turnOf([
      [start, call, finish("tool-calls", 2)],
      [start, finish("stop", 3)],
    ]);
    const seen: HarnessV1StreamPart[] = [];
    const control = turn.show((part) => seen.push(part), undefined);
    turn.start([]);
    await hears;
    await control.submitToolResult({ toolCallId: "c1", output: { sky: "snow" } });
    // A second answer is of no use to the step that follows.
    await control.submitToolResult({ toolCallId: "c1", output: "again" });
    await control.done;
    expect(prompts).toHaveLength(2);
    expect(seen.map(({ type }) => type)).toEqual([
      "stream-start",
      "tool-call",
      "finish-step",
      "finish-step",
      "finish",
    ]);
    expect(seen.at(-1)).toMatchObject({ totalUsage: { inputTokens: { total: 5 } } });
    expect(prompts[1]).toMatchObject([
      { role: "assistant", content: [{ toolCallId: "c1", providerOptions: { codex: { threadId: "t" } } }] },
      { role: "tool", content: [{ output: { type: "json", value: { sky: "snow" } } }] },
    ]);
  });

  it("shows the results of calls once, under the names that harnesses share", async () => {
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
    const control = turn.show((part) => seen.push(part), undefined);
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

  it("goes on from the answer to what another process asked", async () => {
    const before = new StepAsks();
    before.hear({ ...call, providerExecuted: true });
    before.hear({ type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" });
    const asks = StepAsks.from(JSON.parse(JSON.stringify(before)) as ReturnType<StepAsks["toJSON"]>);
    const { turn, prompts } = turnOf([[start, finish("interrupted")]], { asks });
    const seen: HarnessV1StreamPart[] = [];
    const control = turn.show((part) => seen.push(part), undefined);
    await control.submitToolApproval?.({ approvalId: "a1", approved: false, reason: "no" });
    await control.done;
    expect(prompts).toMatchObject([
      [{}, { content: [{ type: "tool-approval-response", approved: false, reason: "no" }] }],
    ]);
    expect(seen.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "other" } });
  });

  it("tells the next host what happened while none looked, its end and its error too", async () => {
    const { turn, hears } = turnOf([[start, { type: "error", error: new Error("broken") }]]);
    turn.start([]);
    await hears;
    const seen: string[] = [];
    const control = turn.show(({ type }) => seen.push(type), undefined);
    await expect(control.done).rejects.toThrow("broken");
    expect(seen).toEqual(["stream-start"]);
  });

  it("is stopped when it says too much while nobody looks", async () => {
    const { turn, hears } = turnOf([[start, call, call, call, finish("stop")]], { unseenParts: 2 });
    turn.start([]);
    await hears;
    await expect(turn.show(() => {}, undefined).done).rejects.toThrow("More than 2 parts");
  });
});
