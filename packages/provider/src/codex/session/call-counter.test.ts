import type { CodexEvent, v2 } from "codexkit";
import { describe, expect, it } from "vitest";
import { CallCounter } from "./call-counter.ts";

const PLACE = { threadId: "t", turnId: "u" };

function item(of: "imageView" | "agentMessage"): readonly CodexEvent[] {
  const shown = { type: of, id: "i", path: "/a", text: "" } as unknown as v2.ThreadItem;
  return [
    { type: "item.started", ...PLACE, item: shown },
    { type: "item.completed", ...PLACE, item: shown },
  ];
}

const tool = item("imageView");
const text = item("agentMessage");
const usage = { type: "usage.updated", ...PLACE } as CodexEvent;

function record(counter: CallCounter, event: CodexEvent, grown = true): boolean {
  return event.type === "usage.updated"
    ? counter.recordUsage(event.threadId, grown)
    : counter.recordItem(event);
}

/** The index of the event at which the counter reports that the calls are used up, and its count by then. */
function over(limit: number, events: readonly CodexEvent[]): { at: number; calls: number } {
  const counter = new CallCounter(limit);
  const at = events.findIndex((event) => record(counter, event));
  return { at, calls: counter.calls };
}

const ofAgent = (events: readonly CodexEvent[]): CodexEvent[] =>
  events.map((event) => ({ ...event, threadId: "agent" }));

describe("a call counter", () => {
  it("allows a session all of its calls, the last without tools", () => {
    expect(over(2, [...tool, usage, ...text, usage])).toEqual({ at: -1, calls: 2 });
  });

  it("reports the limit when the last permitted answer requests a tool, before the tool runs", () => {
    expect(over(1, [...tool, usage])).toEqual({ at: 0, calls: 1 });
    expect(over(2, [...text, ...tool, ...tool, usage, ...text, ...tool])).toEqual({ at: 9, calls: 2 });
  });

  it.each([
    ["words", text],
    ["a tool", tool],
    ["its tokens alone", [usage]],
  ])("detects an unannounced call by %s", (_, next) => {
    expect(over(1, [...text, usage, ...next])).toEqual({ at: 3, calls: 2 });
  });

  it("counts the calls of subagents, even while the session's own call is open", () => {
    expect(over(3, [...tool, ...ofAgent([...text, usage]), usage, ...text])).toEqual({ at: -1, calls: 3 });
    expect(over(2, [...tool, ...ofAgent(text), ...ofAgent([usage]), usage, ...text])).toEqual({
      at: 6,
      calls: 3,
    });
  });

  it("does not count repeated tokens", () => {
    const counter = new CallCounter();
    for (const event of [...text, usage]) record(counter, event);
    record(counter, usage, false);
    expect(counter.calls).toBe(1);
  });

  it("also counts without a limit", () => {
    const counter = new CallCounter();
    for (let call = 0; call < 50; call += 1)
      expect([...tool, usage].some((event) => record(counter, event))).toBe(false);
    expect(counter.calls).toBe(50);
  });
});
