// Events that the real codex can't be made to send, on a fake server.
import { type FakeAction, type FakeBehaviour, fakeAppServerCommand } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { ofType, partsOf, userPrompt, textOf } from "./codex-stage.ts";
import { pixel } from "./pixel.ts";
import { type CodexModelProvider, createCodex } from "../src/index.ts";

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

/** Creates a provider on a fake server. */
function onFake(behaviour: FakeBehaviour): CodexModelProvider {
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

  it("appear as calls; their text, tokens and turn ends are kept separate from the parent's", async () => {
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
    const parts = await partsOf(codex(), { prompt: userPrompt("go") });
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
    const first = await partsOf(codex(), { prompt: userPrompt("go") });
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
    return await partsOf(codex(), { prompt: userPrompt("go") });
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
