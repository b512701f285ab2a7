import type { EventStreamOptions, SessionEvent, StreamFrame } from "@codexkit/daemon/client";
import { expect, it } from "vitest";
import type { FeedReport } from "./feed-protocol.ts";
import { StreamReader } from "./stream-reader.ts";

function warning(seq: number): StreamFrame {
  const event = {
    type: "warning",
    kind: "server",
    message: String(seq),
    seq,
    epoch: 1,
    at: 0,
  } as SessionEvent;
  return { type: "event", sessionId: "s", event };
}

/** Connections that yield given frames, one list per connection. */
function createReader(connections: readonly (readonly StreamFrame[])[]) {
  const opened: EventStreamOptions[] = [];
  const reports: FeedReport[] = [];
  const client = {
    events: (options: EventStreamOptions = {}) => {
      opened.push(options);
      const frames = connections[opened.length - 1] ?? [];
      return {
        cursor: `cursor ${opened.length}`,
        async *[Symbol.asyncIterator]() {
          yield* frames;
          await new Promise<void>((resolve) => {
            options.signal?.addEventListener("abort", () => resolve(), { once: true });
          });
        },
      };
    },
  };
  const reader = new StreamReader(client as never, (report) => reports.push(report));
  const sequences = (): number[] =>
    reports.flatMap((report) =>
      report.type === "frames"
        ? report.frames.flatMap((frame) => (frame.type === "event" ? [frame.event.seq] : []))
        : [],
    );
  return { reader, opened, sequences };
}

it("reports each event once, whatever connections repeat", async () => {
  const { reader, sequences } = createReader([
    [warning(1), warning(2)],
    [warning(2), warning(3)],
  ]);
  reader.handle({ type: "watch", sessions: { s: 0 } });
  reader.handle({ type: "connect" });
  await expect.poll(sequences).toEqual([1, 2]);
  reader.handle({ type: "connect" });
  await expect.poll(sequences).toEqual([1, 2, 3]);
  reader.handle({ type: "pause" });
});

it("asks again for events that are missing, without the cursor, and goes on if they are lost", async () => {
  const { reader, opened, sequences } = createReader([
    [warning(1), warning(4)],
    [warning(2), warning(3), warning(4)],
    [warning(9)],
    [warning(9)],
  ]);
  reader.handle({ type: "watch", sessions: { s: 0 } });
  reader.handle({ type: "connect" });
  await expect.poll(sequences).toEqual([1, 2, 3, 4]);
  expect(opened[1]).toMatchObject({ watch: { s: 1 } });
  expect(opened[1]?.cursor).toBeUndefined();
  reader.handle({ type: "connect" });
  await expect.poll(sequences).toEqual([1, 2, 3, 4, 9]);
  reader.handle({ type: "pause" });
});
