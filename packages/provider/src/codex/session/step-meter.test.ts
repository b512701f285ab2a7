import type { CodexEvent, v2 } from "codexkit";
import { describe, expect, it } from "vitest";
import { StepMeter } from "./step-meter.ts";

const PLACE = { threadId: "t", turnId: "u" };

function item(type: "item.started" | "item.completed", of: "imageView" | "agentMessage"): CodexEvent {
  return { type, ...PLACE, item: { type: of, id: "i", path: "/a", text: "" } as unknown as v2.ThreadItem };
}

const tool = [item("item.started", "imageView"), item("item.completed", "imageView")];
const text = [item("item.started", "agentMessage"), item("item.completed", "agentMessage")];
const usage = { type: "usage.updated", ...PLACE } as CodexEvent;

/** Where in the events the meter says that it is over, and how many calls it counted until then. */
function over(limit: number, events: readonly CodexEvent[]): { at: number; steps: number } {
  const meter = new StepMeter(limit);
  const at = events.findIndex((event) => meter.take(event));
  return { at, steps: meter.steps };
}

describe("a step meter", () => {
  it("lets a session have all of its calls, the last without tools", () => {
    expect(over(2, [...tool, usage, ...text, usage])).toEqual({ at: -1, steps: 2 });
  });

  it("says that it is over when the last permitted call used tools, before the next one", () => {
    expect(over(1, [...tool, usage, ...text, usage])).toEqual({ at: 2, steps: 1 });
    expect(over(2, [...tool, usage, ...text, ...tool, usage])).toMatchObject({ at: 7, steps: 2 });
  });

  it.each([
    ["words", text],
    ["a tool", tool],
    ["nothing but its tokens", [usage]],
  ])("catches a call that nothing announced by %s", (_, next) => {
    expect(over(1, [...text, usage, ...next]).at).toBe(3);
  });

  it("counts without a limit too", () => {
    const meter = new StepMeter();
    for (let step = 0; step < 50; step += 1)
      expect([...tool, usage].some((event) => meter.take(event))).toBe(false);
    expect(meter.steps).toBe(50);
  });
});
