// Tests the cost and the limits of sessions on the real codex.
import { callTool, gate, type Part, run, say, type Script, usage, waitFor } from "@codexkit/scripted-model";
import { describe, expect, it } from "vitest";
import { codexFixture, ofKind, read, type Transcript } from "../../test/codex-fixture.ts";
import type { AgentCost } from "../contract/agent-event.ts";
import { CodexProvider } from "./codex-provider.ts";

const AGENTS = { namespace: "multi_agent_v1" };

/** A session that starts a subagent, which calls the model twice, and waits for it: five calls of 100 + 10 tokens. */
const delegating: Script = ({ lastUserText: prompt, newOutputs: [output] }) => {
  const tokens = usage({ input: 100, output: 10, cached: 0 });
  if (prompt === "below") return [output ? say("done below") : run("echo below"), tokens];
  if (!output) return [callTool("spawn_agent", { message: "below" }, AGENTS), tokens];
  const id = /"agent_id":"([^"]+)"/.exec(output.text)?.[1];
  return [id === undefined ? say("done") : callTool("wait_agent", { targets: [id] }, AGENTS), tokens];
};

/**
 * The reply to the call after the one that exceeds a budget. It never completes: Codex may make that call before the interrupt
 * arrives, and its tokens would count.
 */
const pending: Part = waitFor(gate());

/** Two calls per turn: a command and the text after it. */
const twoCalls: Script = ({ newOutputs }) => [
  newOutputs.length === 0 ? run("true") : say("done"),
  usage({ input: 100, output: 10, cached: 40 }),
];

function costs(transcript: Transcript): AgentCost[] {
  return ofKind(transcript, "usage").map(({ cost }) => cost);
}

describe("a resumed session", () => {
  it("does not count earlier turns, in its cost or toward its limits", async () => {
    await using fixture = await codexFixture(() => [say("ok"), usage({ input: 100, output: 10, cached: 0 })]);
    const { sessionId } = await fixture.run("one", { maxTurns: 1 });
    const limits = { maxTurns: 1, maxTokens: 110 };
    const handle = await fixture.provider.resume(sessionId, fixture.spec("two", limits));
    const second = await read(handle);
    // Until Codex has released the session, no other process can resume it.
    await handle.stop();
    await using other = await CodexProvider.create(fixture.options);
    const third = await read(await other.resume(sessionId, fixture.spec("three", limits)));
    for (const transcript of [second, third]) {
      expect(transcript.end).toMatchObject({ kind: "result", success: true });
      const cost = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, turns: 1 };
      expect(transcript.end.cost).toEqual(cost);
      expect(costs(transcript)).toEqual([cost]);
    }
  });
});

describe("subagents", () => {
  it("count toward the cost and its turns", async () => {
    await using fixture = await codexFixture(delegating, { modelName: "gpt-5.5" });
    const transcript = await fixture.run("delegate");
    expect(transcript.end).toMatchObject({
      success: true,
      cost: { inputTokens: 500, outputTokens: 50, turns: 5 },
    });
    expect(ofKind(transcript, "usage").filter(({ subagent }) => subagent)).toHaveLength(2);
  });

  it("count toward maxTurns and maxTokens", async () => {
    await using fixture = await codexFixture(delegating, { modelName: "gpt-5.5" });
    expect((await fixture.run("delegate", { maxTurns: 5, maxTokens: 550 })).end).toMatchObject({
      success: true,
    });
    // The session's own three calls are below the limits.
    expect((await fixture.run("delegate", { maxTurns: 4 })).end).toMatchObject({
      success: false,
      errorSubtype: "max_turns",
    });
    expect((await fixture.run("delegate", { maxTokens: 440 })).end).toMatchObject({
      success: false,
      errorSubtype: "budget_exceeded",
    });
  });
});

describe("the cost so far", () => {
  it("is reported after each model call, and repeated by the terminal event", async () => {
    await using fixture = await codexFixture(twoCalls);
    const transcript = await fixture.run("go");
    const [first, second] = costs(transcript);
    expect(first).toEqual({ inputTokens: 100, outputTokens: 10, cachedInputTokens: 40, turns: 1 });
    expect(second).toEqual({ inputTokens: 200, outputTokens: 20, cachedInputTokens: 80, turns: 2 });
    expect(transcript.end.cost).toEqual(second);
    expect(ofKind(transcript, "usage")).toMatchObject([{ model: "mock-model" }, { model: "mock-model" }]);
  });

  it.each([
    ["the signal", { kind: "error", code: "context_cancelled", retryable: false }],
    ["a crash", { kind: "error", code: "app_server_crashed", retryable: true }],
    ["the shutdown", { kind: "error", code: "provider_shutdown", retryable: true }],
    ["stop()", { kind: "result", errorSubtype: "stopped", retryable: false }],
  ])("is in the terminal event of %s", async (by, expected) => {
    await using fixture = await codexFixture(({ newOutputs }) =>
      newOutputs.length === 0
        ? [run("true"), usage({ input: 100, output: 10, cached: 0 })]
        : say(["Half a", waitFor(gate())]),
    );
    const abort = new AbortController();
    const handle = await fixture.provider.spawn(fixture.spec("go"), { signal: abort.signal });
    const reading = read(handle);
    await fixture.model.waitForRequests(2);
    // Events are ordered: at the second model call, the first count has been sent.
    if (by === "the signal") abort.abort();
    else if (by === "a crash") process.kill(fixture.provider.pid ?? 0, "SIGKILL");
    else await (by === "stop()" ? handle.stop() : fixture.provider.shutdown());
    const { end } = await reading;
    expect(end).toMatchObject(expected);
    expect(end.cost).toMatchObject({ inputTokens: 100, outputTokens: 10 });
  });
});

describe("a budget", () => {
  it("of tokens ends the session as soon as it is exceeded", async () => {
    await using fixture = await codexFixture(({ outputs }) =>
      outputs.length === 3
        ? pending
        : [run("true", { callId: `c${outputs.length}` }), usage({ input: 100, output: 10, cached: 0 })],
    );
    const { end } = await fixture.run("go", { maxTokens: 250, maxTurns: 50 });
    expect(end).toMatchObject({
      kind: "result",
      success: false,
      errorSubtype: "budget_exceeded",
      retryable: false,
      errors: [expect.stringContaining("maxTokens")],
    });
    expect(end.cost.inputTokens).toBe(300);
  });

  it("can be exceeded by the call that completes the turn, whose message is kept", async () => {
    await using fixture = await codexFixture(() => [
      say("done"),
      usage({ input: 100, output: 10, cached: 0 }),
    ]);
    expect((await fixture.run("go", { maxTokens: 109 })).end).toMatchObject({
      success: false,
      errorSubtype: "budget_exceeded",
      message: "done",
    });
    expect((await fixture.run("go", { maxTokens: 110 })).end).toMatchObject({ success: true });
  });

  const PRICES = {
    "mock-model": { inputPerMillion: 10_000, outputPerMillion: 100_000, cachedInputPerMillion: 0 },
  };

  it("of money is enforced with a table of prices", async () => {
    // 60 uncached tokens at 0.01 and 10 at 0.1 per call.
    const script: Script = (request) =>
      request.lastUserText === "exceed" && request.newOutputs.length > 0 ? pending : twoCalls(request);
    await using fixture = await codexFixture(script, { prices: PRICES });
    expect((await fixture.run("go", { maxCostUsd: 3.2 })).end).toMatchObject({
      success: true,
      cost: { usd: 3.2, turns: 2 },
    });
    expect((await fixture.run("exceed", { maxCostUsd: 1 })).end).toMatchObject({
      errorSubtype: "budget_exceeded",
      cost: { usd: 1.6, turns: 1 },
      errors: [expect.stringContaining("maxCostUsd")],
    });
  });

  it("of money is enforced with a callback", async () => {
    const asked: unknown[] = [];
    const script: Script = (request) => (request.newOutputs.length > 0 ? pending : twoCalls(request));
    await using fixture = await codexFixture(script, {
      prices: (tokens) => {
        if (tokens.inputTokens > 0) asked.push(tokens);
        return tokens.outputTokens;
      },
    });
    expect((await fixture.run("go", { maxCostUsd: 5 })).end).toMatchObject({
      errorSubtype: "budget_exceeded",
      cost: { usd: 10 },
    });
    expect(asked).toEqual([
      { model: "mock-model", inputTokens: 100, cachedInputTokens: 40, outputTokens: 10 },
    ]);
  });

  it("of money is ignored if the model has no price, and refused if it is required", async () => {
    await using fixture = await codexFixture(twoCalls, { prices: { other: PRICES["mock-model"] } });
    const handle = await fixture.provider.spawn(fixture.spec("go", { maxCostUsd: 1 }));
    expect(handle.ignored).toMatchObject([
      { field: "maxCostUsd", reason: expect.stringMatching(/"mock-model" has no price/) as string },
    ]);
    const { end } = await read(handle);
    expect(end).toMatchObject({ success: true });
    expect(end.cost).not.toHaveProperty("usd");
    const required = fixture.spec("go", { maxCostUsd: 1, required: ["maxCostUsd"] });
    await expect(fixture.provider.spawn(required)).rejects.toMatchObject({ code: "unsupported" });
    await expect.poll(() => fixture.provider.sessions, { timeout: 10_000 }).toBe(0);
  });

  it("of money with an invalid price is refused when the provider is created", async () => {
    const prices = { m: { inputPerMillion: -1, outputPerMillion: 1 } };
    await expect(CodexProvider.create({ prices })).rejects.toMatchObject({ code: "invalid_spec" });
  });
});
