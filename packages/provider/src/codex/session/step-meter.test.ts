import type { CodexEvent, v2 } from "codexkit";
import { describe, expect, it } from "vitest";
import { StepMeter } from "./step-meter.ts";

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

/** Where in the events the meter says that it is over, and how many calls it counted until then. */
function over(limit: number, events: readonly CodexEvent[]): { at: number; calls: number } {
  const meter = new StepMeter(limit);
  const at = events.findIndex((event) => meter.take(event));
  return { at, calls: meter.calls };
}

describe("a step meter", () => {
  it("lets a session have all of its calls, the last without tools", () => {
    expect(over(2, [...tool, usage, ...text, usage])).toEqual({ at: -1, calls: 2 });
  });

  it("says that it is over when the last permitted answer asks for a tool, before that runs", () => {
    expect(over(1, [...tool, usage])).toEqual({ at: 0, calls: 1 });
    expect(over(2, [...text, ...tool, ...tool, usage, ...text, ...tool])).toEqual({ at: 9, calls: 2 });
  });

  it.each([
    ["words", text],
    ["a tool", tool],
    ["nothing but its tokens", [usage]],
  ])("catches a call that nothing announced by %s", (_, next) => {
    expect(over(1, [...text, usage, ...next])).toEqual({ at: 3, calls: 2 });
  });

  it("counts without a limit too", () => {
    const meter = new StepMeter();
    for (let call = 0; call < 50; call += 1)
      expect([...tool, usage].some((event) => meter.take(event))).toBe(false);
    expect(meter.calls).toBe(50);
  });
});
