import { SERVER_NOTIFICATION_METHODS } from "@codexkit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { message, TurnNotifications, tokens } from "../../test/notices.ts";
import { ThreadRouter } from "../routing/thread-router.ts";
import { parseNotification } from "./parse-notification.ts";

const say = new TurnNotifications("thread", "turn");
const place = { threadId: "thread", turnId: "turn" };

describe("parseNotification", () => {
  it.each<[string, object, object]>([
    ["thread/started", { thread: { id: "thread" } }, { type: "thread.started", threadId: "thread" }],
    [
      "turn/started",
      { threadId: "thread", turn: say.turn("inProgress") },
      { type: "turn.started", ...place },
    ],
    [
      "item/started",
      { ...place, item: message("m", "") },
      { type: "item.started", ...place, item: message("m", "") },
    ],
    [
      "item/completed",
      { ...place, item: message("m", "x") },
      { type: "item.completed", ...place, item: message("m", "x") },
    ],
    [
      "item/agentMessage/delta",
      { ...place, itemId: "m", delta: "x" },
      { type: "item.delta", ...place, itemId: "m", kind: "message", delta: "x" },
    ],
    [
      "item/plan/delta",
      { ...place, itemId: "p", delta: "x" },
      { type: "item.delta", kind: "plan", itemId: "p", delta: "x" },
    ],
    [
      "item/commandExecution/outputDelta",
      { ...place, itemId: "c", delta: "x" },
      { type: "item.delta", kind: "command_output", delta: "x" },
    ],
    [
      "item/reasoning/summaryTextDelta",
      { ...place, itemId: "r", delta: "x", summaryIndex: 0 },
      { type: "item.delta", kind: "reasoning_summary", index: 0 },
    ],
    [
      "item/reasoning/textDelta",
      { ...place, itemId: "r", delta: "x", contentIndex: 2 },
      { type: "item.delta", kind: "reasoning", index: 2 },
    ],
    [
      "item/mcpToolCall/progress",
      { ...place, itemId: "t", message: "half" },
      { type: "item.delta", kind: "tool_progress", itemId: "t", delta: "half" },
    ],
    [
      "turn/plan/updated",
      { ...place, plan: [], explanation: null },
      { type: "plan.updated", ...place, plan: [], explanation: null },
    ],
    ["turn/diff/updated", { ...place, diff: "+a" }, { type: "diff.updated", ...place, diff: "+a" }],
    [
      "thread/tokenUsage/updated",
      { ...place, tokenUsage: { total: tokens(2), last: tokens(1), modelContextWindow: 9 } },
      { type: "usage", params: place },
    ],
    [
      "turn/completed",
      { threadId: "thread", turn: say.turn("completed") },
      { type: "turn-end", params: { threadId: "thread", turn: { id: "turn" } } },
    ],
    [
      "error",
      { ...place, willRetry: true, error: { message: "Reconnecting… 1/5" } },
      { type: "warning", kind: "retrying", message: "Reconnecting… 1/5", ...place },
    ],
    ["error", { ...place, willRetry: false, error: { message: "over" } }, { type: "notice", ...place }],
    [
      "warning",
      { threadId: null, message: "careful" },
      { type: "warning", kind: "server", message: "careful" },
    ],
    [
      "guardianWarning",
      { threadId: "thread", message: "careful" },
      { type: "warning", kind: "guardian", threadId: "thread" },
    ],
    [
      "deprecationNotice",
      { summary: "old", details: null },
      { type: "warning", kind: "deprecation", message: "old" },
    ],
    [
      "configWarning",
      { summary: "odd", details: "line 1" },
      { type: "warning", kind: "config", message: "odd: line 1" },
    ],
    ["configWarning", { summary: "odd" }, { type: "warning", kind: "config", message: "odd" }],
    [
      "model/rerouted",
      { ...place, fromModel: "a", toModel: "b", reason: "x" },
      { type: "warning", kind: "model_rerouted", model: "b", ...place },
    ],
    [
      "thread/status/changed",
      { threadId: "thread", status: { type: "idle" } },
      { type: "notice", threadId: "thread" },
    ],
    [
      "a/method/of/tomorrow",
      { ...place, more: [1] },
      { type: "unknown", ...place, raw: { method: "a/method/of/tomorrow", params: { more: [1] } } },
    ],
  ])("parses %s %j", (method, params, expected) => {
    expect(parseNotification({ method, params })).toMatchObject(expected);
  });

  it.each<[string, unknown]>([
    ["item/agentMessage/delta", { ...place, itemId: "m", delta: 5 }],
    ["item/agentMessage/delta", { ...place, delta: "x" }],
    ["item/started", { ...place, item: { type: "agentMessage" } }],
    ["item/completed", { ...place, item: null }],
    ["turn/completed", { threadId: "thread" }],
    ["turn/plan/updated", { ...place, plan: "soon" }],
    ["thread/tokenUsage/updated", { ...place, tokenUsage: { total: null } }],
    ["warning", { message: { text: "x" } }],
    ["configWarning", { summary: null, details: "x" }],
    ["error", { ...place, willRetry: true }],
    ["turn/started", undefined],
    ["turn/started", "soon"],
  ])("passes on %s with an unexpected shape as unknown", (method, params) => {
    const raw = { method, params };
    expect(parseNotification(raw)).toMatchObject({ type: "unknown", raw });
  });

  it("ends a turn even if its end lacks the status and valid items", () => {
    const raw = {
      method: "turn/completed",
      params: { threadId: "thread", turn: { id: "turn", items: [null, {}] } },
    };
    expect(parseNotification(raw)).toMatchObject({
      type: "turn-end",
      params: { turn: { id: "turn", items: [] } },
    });
  });

  const parts = fc.oneof(fc.constantFrom("thread", "turn", "item"), fc.anything());
  const shaped = fc.record(
    {
      threadId: parts,
      turnId: parts,
      itemId: parts,
      delta: parts,
      message: parts,
      summary: parts,
      details: parts,
      plan: fc.anything(),
      error: fc.anything(),
      willRetry: fc.anything(),
      thread: fc.oneof(fc.anything(), fc.record({ id: parts, parentThreadId: parts }, { requiredKeys: [] })),
      turn: fc.oneof(
        fc.anything(),
        fc.record(
          { id: parts, items: fc.anything(), status: fc.anything(), error: fc.anything() },
          { requiredKeys: [] },
        ),
      ),
      item: fc.oneof(
        fc.anything(),
        fc.record(
          {
            id: parts,
            type: fc.oneof(
              fc.constantFrom("userMessage", "agentMessage", "subAgentActivity", "collabAgentToolCall"),
              fc.anything(),
            ),
            tool: fc.constantFrom("spawnAgent", "wait"),
            receiverThreadIds: fc.oneof(fc.anything(), fc.array(parts)),
            senderThreadId: parts,
            agentThreadId: parts,
            agentsStates: fc.anything(),
            clientId: parts,
          },
          { requiredKeys: [] },
        ),
      ),
      tokenUsage: fc.oneof(fc.anything(), fc.record({ total: fc.anything(), last: fc.anything() })),
    },
    { requiredKeys: [] },
  );
  const junk = fc.record({
    method: fc.oneof(fc.constantFrom(...SERVER_NOTIFICATION_METHODS), fc.string()),
    params: fc.oneof(fc.anything(), shaped),
  });

  it("accepts any invalid params in any notification and keeps them, unless it is a readable delta", () => {
    fc.assert(
      fc.property(junk, (raw) => {
        const reading = parseNotification(raw);
        const isKept =
          reading.type === "item.delta" ? typeof reading.delta === "string" : reading.raw === raw;
        expect(isKept).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it("does not let invalid params stop the router", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(junk, { maxLength: 30 }), async (messages) => {
        const router = new ThreadRouter();
        router.hold("thread");
        const events = router.events.read();
        for (const raw of messages) router.route(raw);
        router.close();
        const seen = await Array.fromAsync(events);
        expect(seen.length).toBeGreaterThanOrEqual(messages.length > 0 ? 1 : 0);
        router.agents.below("thread");
      }),
      { numRuns: 500 },
    );
  });
});
