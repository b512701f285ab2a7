import type { SessionEvent, StreamFrame } from "@codexkit/daemon/client";
import fc from "fast-check";
import { expect, it } from "vitest";
import { mergeDeltas } from "./merge-deltas.ts";
import { SessionProjection } from "./session-projection.ts";
import { arbitraryEvents, snapshot } from "./session.fixture.ts";

function toFrames(events: readonly SessionEvent[]): StreamFrame[] {
  return events.map((event) => ({ type: "event", sessionId: "s", event }));
}

function project(frames: readonly StreamFrame[]): unknown {
  const projection = new SessionProjection();
  for (const frame of frames) if (frame.type === "event") projection.apply(frame.event);
  return snapshot(projection);
}

it("changes nothing in the projection", () => {
  fc.assert(
    fc.property(arbitraryEvents, (events) => {
      const frames = toFrames(events);
      expect(project(mergeDeltas(frames))).toEqual(project(frames));
    }),
  );
});

function burst(count: number): StreamFrame[] {
  const deltas = Array.from({ length: count }, (_, index) => ({
    type: "item.delta" as const,
    threadId: "t",
    turnId: "turn",
    itemId: "a",
    kind: "message" as const,
    delta: "ab",
    offset: index * 2,
    seq: index + 1,
    epoch: 1,
    at: 0,
  }));
  return toFrames(deltas);
}

it("merges a burst of deltas into one frame", () => {
  const merged = mergeDeltas(burst(500));
  expect(merged).toHaveLength(1);
  expect(merged[0]).toMatchObject({ event: { seq: 500, offset: 0, delta: "ab".repeat(500) } });
});

it("merges a long burst into several frames, so that a page can apply them in several animation frames", () => {
  const merged = mergeDeltas(burst(5000));
  const lengths = merged.map((frame) =>
    frame.type === "event" && frame.event.type === "item.delta" ? frame.event.delta.length : 0,
  );
  expect(Math.max(...lengths)).toBeLessThanOrEqual(1026);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(10_000);
  expect(merged.length).toBeLessThan(15);
});
