import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActivityEvent } from "../../contract/agent-event.ts";
import type { SessionUpdate } from "./session-notification.ts";
import { UpdateMapper } from "./update-mapper.ts";

const words = (text: string, messageId?: string): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
  messageId,
});

const tool = (toolCallId: string, status?: string): SessionUpdate => ({
  sessionUpdate: "tool_call_update",
  toolCallId,
  status,
});

function mapAll(mapper: UpdateMapper, updates: readonly SessionUpdate[]): ActivityEvent[] {
  return updates.flatMap((update) => mapper.map(update));
}

describe("the updates of a session", () => {
  it("join adjacent chunks into one message, and keep the last message", () => {
    const mapper = new UpdateMapper();
    const events = mapAll(mapper, [words("He"), words("llo"), tool("t", "completed"), words("Bye")]);
    const ids = events.flatMap((event) => (event.kind === "assistant_text" ? [event.messageId] : []));
    expect(ids).toEqual(["message-1", "message-1", "message-2"]);
    expect(mapper.message).toBe("Bye");
  });

  it("keep the agent's own ids of messages", () => {
    expect(new UpdateMapper().map(words("x", "m-7"))).toMatchObject([{ messageId: "m-7" }]);
  });

  it("start a tool whose first update is its end", () => {
    const events = new UpdateMapper().map(tool("t", "failed"));
    expect(events).toMatchObject([{ kind: "tool_use" }, { kind: "tool_result", isError: true }]);
  });

  it("pair every tool_use with one tool_result, in any order of updates", () => {
    const update = fc.oneof(
      fc.tuple(
        fc.constantFrom("a", "b", "c"),
        fc.constantFrom(undefined, "pending", "in_progress", "completed", "failed"),
      ),
      fc.constant("words" as const),
    );
    fc.assert(
      fc.property(fc.array(update, { maxLength: 40 }), (script) => {
        const mapper = new UpdateMapper();
        const updates = script.map((step) => (step === "words" ? words("x") : tool(...step)));
        const events = [...mapAll(mapper, updates), ...mapper.closeOpen("over")];
        for (const id of ["a", "b", "c"]) {
          const life = events.flatMap((event) =>
            "toolUseId" in event && event.toolUseId === id ? [event.kind] : [],
          );
          expect(life.join(" ")).toMatch(/^(tool_use( tool_progress)* tool_result)?$/);
        }
      }),
    );
  });

  it("start a new message with a new id", () => {
    const mapper = new UpdateMapper();
    mapAll(mapper, [words("Warning: slow."), words("Hel", "m-1"), words("lo", "m-1")]);
    expect(mapper.message).toBe("Hello");
  });

  it("don't report an ended call again", () => {
    const mapper = new UpdateMapper();
    mapAll(mapper, [tool("t", "completed")]);
    expect(mapAll(mapper, [tool("t", "in_progress"), tool("t", "completed")])).toEqual([]);
  });

  it("add up the tokens of model calls that arrive with message chunks", () => {
    const mapper = new UpdateMapper();
    const usage = { inputTokens: 120, outputTokens: 30, totalTokens: 150, cachedReadTokens: 20 };
    const counted = { ...words(""), _meta: { usage } } as SessionUpdate;
    const kinds = mapAll(mapper, [counted, words("x"), counted]).map(({ kind }) => kind);
    expect(kinds).toEqual(["usage", "assistant_text", "usage"]);
    expect(mapper.cost).toEqual({
      inputTokens: 240,
      outputTokens: 60,
      cachedInputTokens: 40,
      turns: 2,
    });
  });
});
