import {
  DaemonClientError,
  type SummaryStreamOptions,
  type SessionEvent,
  type StreamFrame,
} from "@codexkit/daemon/client";
import { expect, it, vi } from "vitest";
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

/** Connections that yield given frames, one list per connection, or are refused with an error. */
function createReader(connections: readonly (readonly StreamFrame[] | Error)[], { isFast = true } = {}) {
  const opened: SummaryStreamOptions[] = [];
  let readCount = 0;
  const reports: FeedReport[] = [];
  const client = {
    events: (options: SummaryStreamOptions = {}) => {
      opened.push(options);
      const frames = connections[opened.length - 1] ?? [];
      return {
        cursor: `cursor ${opened.length}`,
        async *[Symbol.asyncIterator]() {
          if (frames instanceof Error) throw frames;
          for (const frame of frames) {
            readCount += 1;
            yield frame;
          }
          await new Promise<void>((resolve) => {
            options.signal?.addEventListener("abort", () => resolve(), { once: true });
          });
        },
      };
    },
  };
  const reader = new StreamReader(client as never, (report) => {
    reports.push(report);
    if (report.type === "frames" && isFast) queueMicrotask(() => reader.handle({ type: "applied" }));
  });
  const sequences = (): number[] =>
    reports.flatMap((report) =>
      report.type === "frames"
        ? report.frames.flatMap((frame) => (frame.type === "event" ? [frame.event.seq] : []))
        : [],
    );
  return { reader, opened, reports, sequences, read: () => readCount };
}

it("reports each event once, although connections repeat events", async () => {
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

it("requests missing events again without the cursor, and continues if they are lost", async () => {
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

it("delays the next frames until the page has applied the previous ones", async () => {
  const { reader, opened, reports, sequences } = createReader(
    [
      [warning(1), warning(2)],
      [warning(3), warning(4)],
    ],
    {
      isFast: false,
    },
  );
  const batches = (): number => reports.filter(({ type }) => type === "frames").length;
  reader.handle({ type: "watch", sessions: { s: 0 } });
  reader.handle({ type: "connect" });
  await expect.poll(batches).toBe(1);
  expect(sequences()).toEqual([1, 2]);
  reader.handle({ type: "connect" });
  await expect.poll(() => opened.length).toBe(2);
  expect(batches()).toBe(1);
  reader.handle({ type: "applied" });
  await expect.poll(sequences).toEqual([1, 2, 3, 4]);
  expect(batches()).toBe(2);
  reader.handle({ type: "pause" });
});

it("stops reading while the page is far behind", async () => {
  const count = 20_000;
  const { reader, read, sequences } = createReader(
    [Array.from({ length: count }, (_, index) => warning(index + 1))],
    { isFast: false },
  );
  reader.handle({ type: "watch", sessions: { s: 0 } });
  reader.handle({ type: "connect" });
  await expect.poll(read).toBeGreaterThan(3_000);
  const waiting = read();
  expect(waiting).toBeLessThan(count);
  while (sequences().length < count) {
    const known = sequences().length;
    reader.handle({ type: "applied" });
    await expect.poll(() => sequences().length).toBeGreaterThan(known);
  }
  expect(sequences()).toHaveLength(count);
  reader.handle({ type: "pause" });
});

it("reconnects when the machine wakes up, from the last received event on", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  try {
    const { reader, opened, sequences } = createReader([[warning(1)], [warning(2)]]);
    reader.handle({ type: "watch", sessions: { s: 0 } });
    reader.handle({ type: "connect" });
    await expect.poll(sequences).toEqual([1]);
    vi.advanceTimersByTime(60_000);
    expect(opened).toHaveLength(1);
    // While the machine is suspended, timers stop, but the clock continues.
    vi.setSystemTime(Date.now() + 60_000);
    vi.advanceTimersByTime(1_000);
    await expect.poll(sequences).toEqual([1, 2]);
    expect(opened[1]).toMatchObject({ watch: { s: 1 }, cursor: "cursor 1" });
    reader.handle({ type: "pause" });
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it("starts again where the page wants it if the cursor is newer than the store", async () => {
  const { reader, opened, reports, sequences } = createReader([
    [warning(8), warning(9)],
    new DaemonClientError(
      400,
      { type: "invalid_cursor", title: "Invalid cursor", status: 400, detail: "It is in the future." },
      "The cursor is in the future.",
    ),
    [warning(3), warning(4)],
  ]);
  reader.handle({ type: "watch", sessions: { s: 7 } });
  reader.handle({ type: "connect" });
  await expect.poll(sequences).toEqual([8, 9]);
  reader.handle({ type: "connect" });
  await expect.poll(() => reports.at(-1)).toMatchObject({ type: "refused", resync: true });
  reader.handle({ type: "watch", sessions: { s: 2 } });
  reader.handle({ type: "connect" });
  await expect.poll(sequences).toEqual([8, 9, 3, 4]);
  expect(opened[2]).toMatchObject({ watch: { s: 2 } });
  expect(opened[2]?.cursor).toBeUndefined();
  reader.handle({ type: "pause" });
});
