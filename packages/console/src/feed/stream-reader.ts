import {
  type DaemonClient,
  DaemonClientError,
  type SessionEvent,
  type StreamFrame,
} from "@codexkit/daemon/client";
import type { FeedReport, FeedRequest } from "./feed-protocol.ts";
import { mergeDeltas } from "./merge-deltas.ts";

/** One frame of a 60 Hz screen. */
const BATCH_MS = 16;
/** Beyond this many unapplied frames, reading stops, so that the daemon reads no further ahead. */
const HIGH_WATER = 4_000;
/** Interval between checks of the clock. */
const CLOCK_MS = 1_000;
/**
 * If the clock has jumped by more than this, the machine was suspended. The connection is then dead, without an event of the
 * browser.
 */
const SUSPENDED_MS = 5_000;
/** The daemon sends a comment every 15 s, of which two may be late. */
const IDLE_MS = 35_000;

/** Reads the multiplexed stream, keeps the cursor over reconnects, and reports frames in batches. */
export class StreamReader {
  readonly #client: Pick<DaemonClient, "events">;
  readonly #report: (report: FeedReport) => void;
  /** The newest event of each watched session. */
  readonly #positions = new Map<string, number>();
  #cursor: string | undefined;
  #connection: AbortController | undefined;
  #frames: StreamFrame[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushedAt = 0;
  #hole: string | undefined;
  /** Whether the page is still applying the last frames. */
  #isAwaited = false;
  #resume: (() => void) | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;

  constructor(client: Pick<DaemonClient, "events">, report: (report: FeedReport) => void) {
    this.#client = client;
    this.#report = report;
  }

  handle(request: FeedRequest): void {
    switch (request.type) {
      case "watch": {
        const wanted = new Map(Object.entries(request.sessions));
        for (const id of this.#positions.keys()) if (!wanted.has(id)) this.#positions.delete(id);
        for (const [id, after] of wanted) {
          this.#positions.set(id, Math.max(after, this.#positions.get(id) ?? 0));
        }
        if (this.#connection) this.#connect();
        break;
      }
      case "connect": {
        this.#connect();
        break;
      }
      case "pause": {
        this.#connection?.abort();
        this.#disconnect();
        this.#flush();
        break;
      }
      case "applied": {
        this.#isAwaited = false;
        this.#scheduleFlush();
        break;
      }
    }
  }

  #connect(): void {
    this.#connection?.abort();
    const connection = new AbortController();
    this.#connection = connection;
    this.#clock ??= this.#watchClock();
    void this.#read(connection);
  }

  #disconnect(): void {
    this.#connection = undefined;
    clearInterval(this.#clock);
    this.#clock = undefined;
  }

  /** Reconnects when the machine wakes up, instead of waiting for missing heartbeats. */
  #watchClock(): ReturnType<typeof setInterval> {
    let last = Date.now();
    return setInterval(() => {
      const now = Date.now();
      const wasSuspended = now - last > CLOCK_MS + SUSPENDED_MS;
      last = now;
      if (wasSuspended) this.#connect();
    }, CLOCK_MS);
  }

  async #read(connection: AbortController): Promise<void> {
    const { signal } = connection;
    const isCurrent = (): boolean => this.#connection === connection;
    const stream = this.#client.events({
      watch: Object.fromEntries(this.#positions),
      ...(this.#cursor !== undefined && { cursor: this.#cursor }),
      idleMs: IDLE_MS,
      signal,
      onConnect: () => {
        if (isCurrent()) this.#report({ type: "connected" });
      },
      onDisconnect: () => {
        if (!isCurrent()) return;
        this.#flush();
        this.#report({ type: "disconnected" });
      },
    });
    try {
      for await (const frame of stream) {
        if (!isCurrent()) return;
        this.#cursor = stream.cursor;
        this.#add(frame);
        if (this.#frames.length >= HIGH_WATER) await this.#untilFlushed(signal);
      }
    } catch (error) {
      if (!isCurrent()) return;
      this.#disconnect();
      this.#flush();
      const status = DaemonClientError.is(error) ? error.status : 0;
      // The cursor is from a store that was replaced.
      const resync = DaemonClientError.is(error) && error.code === "invalid_cursor";
      if (resync) {
        this.#cursor = undefined;
        // They may be in the future of the store. The page reads its sessions again.
        this.#positions.clear();
      }
      this.#report({ type: "refused", status, resync });
    }
  }

  #add(frame: StreamFrame): void {
    if (frame.type === "event") {
      const { sessionId, event } = frame;
      const position = this.#positions.get(sessionId);
      if (position === undefined || event.seq <= position) return;
      if (firstSeq(event) > position + 1 && this.#askAgain(sessionId, position)) return;
      this.#positions.set(sessionId, event.seq);
    }
    this.#frames.push(frame);
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#isAwaited || this.#frames.length === 0) return;
    // The first frame after a pause is not delayed.
    const wait = Math.max(0, this.#flushedAt + BATCH_MS - performance.now());
    this.#timer ??= setTimeout(() => this.#flush(), wait);
  }

  async #untilFlushed(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Handles missing events: reads the stream again from the last known event on, once per position. */
  #askAgain(sessionId: string, position: number): boolean {
    const hole = `${sessionId}:${position}`;
    if (this.#hole === hole) return false;
    this.#hole = hole;
    this.#cursor = undefined;
    this.#connect();
    return true;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#frames.length === 0) return;
    this.#flushedAt = performance.now();
    this.#isAwaited = true;
    this.#report({ type: "frames", frames: mergeDeltas(this.#frames) });
    this.#frames = [];
    this.#resume?.();
    this.#resume = undefined;
  }
}

/** The sequence number of a frame's first event. Deltas may be merged, and a gap covers several lost events. */
function firstSeq(event: SessionEvent): number {
  if (event.type === "gap") return event.from;
  return event.type === "item.delta" ? (event.mergedFrom ?? event.seq) : event.seq;
}
