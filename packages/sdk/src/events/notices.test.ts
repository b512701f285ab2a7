import { SERVER_NOTIFICATION_METHODS } from "@codexkit/protocol";
import { describe, expect, it } from "vitest";
import { parseNotification } from "./parse-notification.ts";
import { NOTICES } from "./notices.ts";

const place = { threadId: "thread", turnId: "turn" };
const count = { totalTokens: 1 };
const delta = { ...place, itemId: "item", delta: "text" };
const item = { id: "item", type: "agentMessage" };
const message = { message: "text", ...place };

/** The minimal params of each notification that has a dedicated event. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  "thread/started": { thread: { id: "thread" } },
  "turn/started": { ...place, turn: { id: "turn" } },
  "turn/completed": { ...place, turn: { id: "turn" } },
  "item/started": { ...place, item },
  "item/completed": { ...place, item },
  "item/agentMessage/delta": delta,
  "item/plan/delta": delta,
  "item/commandExecution/outputDelta": delta,
  "item/reasoning/summaryTextDelta": delta,
  "item/reasoning/textDelta": delta,
  "item/mcpToolCall/progress": { ...place, itemId: "item", message: "text" },
  "turn/plan/updated": { ...place, plan: [] },
  "turn/diff/updated": { ...place, diff: "" },
  "thread/tokenUsage/updated": { ...place, tokenUsage: { total: count, last: count } },
  error: { ...place, willRetry: true, error: { message: "text" } },
  warning: message,
  guardianWarning: message,
  deprecationNotice: { summary: "text" },
  configWarning: { summary: "text" },
  "model/rerouted": { ...place, fromModel: "a", toModel: "b" },
};

describe("the notifications of this release", () => {
  it("number 87", () => {
    expect(SERVER_NOTIFICATION_METHODS).toHaveLength(87);
  });

  it.each(SERVER_NOTIFICATION_METHODS)("include %s, which is never published as unknown", (method) => {
    const { type } = parseNotification({ method, params: SAMPLES[method] ?? {} });
    expect(type).not.toBe("unknown");
    expect(type === "notice").toBe(Object.hasOwn(NOTICES, method));
  });

  it.each(Object.entries(NOTICES))(
    "include %s, whose lack of a dedicated event has a reason",
    (_, reason) => {
      expect(reason).toMatch(/^\S.{10,}\.$/);
    },
  );
});
