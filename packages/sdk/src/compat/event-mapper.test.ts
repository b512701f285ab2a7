import type { v2 } from "@codexkit/protocol";
import { describe, expect, it } from "vitest";
import type { CodexEvent } from "../events/event.ts";
import { TurnFailedError, type TurnResult } from "../events/turn-result.ts";
import { NO_TOKENS } from "../events/turn-result.ts";
import { EventMapper } from "./event-mapper.ts";
import type { ThreadEvent } from "./events.ts";

const place = { threadId: "thread", turnId: "turn" };
const result: TurnResult = {
  ...place,
  status: "completed",
  finalResponse: "",
  items: [],
  openItems: [],
  usage: NO_TOKENS,
  diff: "",
  plan: [],
  durationMs: null,
  structured: undefined,
};

/** Maps the events of one turn. */
function mapped(...events: CodexEvent[]): ThreadEvent[] {
  const mapper = new EventMapper();
  return events.flatMap((event) => mapper.map(event));
}

function completed(item: object): CodexEvent {
  return { type: "item.completed", ...place, item: item as v2.ThreadItem };
}

function started(item: object): CodexEvent {
  return { type: "item.started", ...place, item: item as v2.ThreadItem };
}

function turnError(message: string, additionalDetails: string | null = null): v2.TurnError {
  return { message, additionalDetails, codexErrorInfo: null, misalignment: null };
}

describe("EventMapper", () => {
  it("keeps the number of an item from its start to its end", () => {
    const command = {
      id: "x",
      type: "commandExecution",
      command: "ls",
      exitCode: null,
      aggregatedOutput: null,
    };
    const events = mapped(
      started({ ...command, status: "inProgress" }),
      completed({ id: "m", type: "agentMessage", text: "hi" }),
      completed({ ...command, status: "completed", exitCode: 0, aggregatedOutput: "a\n" }),
    );
    expect(events).toEqual([
      {
        type: "item.started",
        item: {
          id: "item_0",
          type: "command_execution",
          command: "ls",
          aggregated_output: "",
          exit_code: null,
          status: "in_progress",
        },
      },
      { type: "item.completed", item: { id: "item_1", type: "agent_message", text: "hi" } },
      {
        type: "item.completed",
        item: {
          id: "item_0",
          type: "command_execution",
          command: "ls",
          aggregated_output: "a\n",
          exit_code: 0,
          status: "completed",
        },
      },
    ]);
  });

  it("emits messages and reasoning only when complete, and no reasoning without a summary", () => {
    expect(
      mapped(
        started({ id: "m", type: "agentMessage", text: "" }),
        started({ id: "r", type: "reasoning", summary: [] }),
        completed({ id: "r", type: "reasoning", summary: [" ", ""] }),
        completed({ id: "u", type: "userMessage", content: [] }),
        completed({ id: "r", type: "reasoning", summary: ["one", "two"] }),
      ),
    ).toEqual([{ type: "item.completed", item: { id: "item_0", type: "reasoning", text: "one\ntwo" } }]);
  });

  it("passes on values that the original does not type", () => {
    const events = mapped(
      completed({ id: "c", type: "commandExecution", command: "rm", status: "declined" }),
      completed({ id: "f", type: "fileChange", changes: [], status: "declined" }),
      completed({
        id: "a",
        type: "collabAgentToolCall",
        tool: "spawnAgent",
        senderThreadId: "thread",
        receiverThreadIds: ["child"],
        prompt: "help",
        agentsStates: { child: { status: "pendingInit", message: null } },
        status: "completed",
      }),
    );
    expect(events.map((event) => "item" in event && event.item)).toMatchObject([
      { type: "command_execution", status: "declined" },
      { type: "file_change", status: "failed" },
      {
        type: "collab_tool_call",
        tool: "spawn_agent",
        sender_thread_id: "thread",
        receiver_thread_ids: ["child"],
        agents_states: { child: { status: "pending_init", message: null } },
      },
    ]);
  });

  it("emits retried failures, final failures and the end of the turn", () => {
    const error = (message: string, details: string | null): { method: string; params: object } => ({
      method: "error",
      params: { ...place, error: turnError(message, details) },
    });
    const failure = new TurnFailedError("turn_failed", "broke", result, {
      turnError: turnError("broke", "badly"),
    });
    expect(
      mapped(
        { type: "warning", kind: "retrying", message: "again", ...place, raw: error("again", "soon") },
        { type: "unknown", ...place, raw: error("broke", null) },
        { type: "turn.failed", ...place, error: failure, result },
      ),
    ).toEqual([
      { type: "error", message: "again (soon)" },
      { type: "error", message: "broke" },
      { type: "turn.failed", error: { message: "broke (badly)" } },
    ]);
  });

  it("emits the server's warnings as items, but not those of this package", () => {
    const reroute = { ...place, fromModel: "a", toModel: "b", reason: "highRiskCyberActivity" };
    expect(
      mapped(
        { type: "warning", kind: "server", message: "careful", raw: { method: "warning", params: {} } },
        { type: "warning", kind: "gap", message: "events were dropped" },
        {
          type: "warning",
          kind: "model_rerouted",
          message: "b answers",
          raw: { method: "model/rerouted", params: reroute },
        },
      ),
    ).toEqual([
      { type: "item.completed", item: { id: "item_0", type: "error", message: "careful" } },
      {
        type: "item.completed",
        item: { id: "item_1", type: "error", message: "model rerouted: a -> b (HighRiskCyberActivity)" },
      },
    ]);
  });

  it("completes the plan with the turn, and emits nothing for an interrupt", () => {
    const events = mapped(
      { type: "plan.updated", ...place, plan: [{ step: "look", status: "pending" }], explanation: null },
      { type: "turn.interrupted", ...place, result },
    );
    expect(events.map(({ type }) => type)).toEqual(["item.started", "item.completed"]);
  });

  it("counts the tokens of the thread, or zero if unknown", () => {
    const end = { type: "turn.completed", ...place, result } as const;
    const total = { ...NO_TOKENS, inputTokens: 7, outputTokens: 3 };
    const usage = { type: "usage.updated", ...place, usage: NO_TOKENS, total, contextWindow: null } as const;
    expect(mapped(usage, end)).toMatchObject([{ usage: { input_tokens: 7, output_tokens: 3 } }]);
    expect(mapped(end)).toMatchObject([{ usage: { input_tokens: 0, reasoning_output_tokens: 0 } }]);
  });
});
