import type { StreamFrame } from "../api/stream.ts";
import { type ReconnectOptions, reconnectingMessages } from "./message-stream.ts";

export interface SummaryStreamOptions extends ReconnectOptions {
  /** IDs of the sessions to watch. The value is the sequence number of the newest known event, or `null` to start with new events. */
  readonly watch?: Readonly<Record<string, number | null>>;
  /** The `cursor` of an earlier stream. */
  readonly cursor?: string;
}

type Connect = (query: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;

/**
 * One stream of summaries, approvals and events of watched sessions. It reconnects automatically. No event is repeated or skipped;
 * a session or approval is left out if its state is not newer than the last one.
 */
export class SummaryStream implements AsyncIterable<StreamFrame> {
  readonly #connect: Connect;
  readonly #options: SummaryStreamOptions;
  readonly #sequences = new Map<string, number>();
  readonly #states = new Map<string, string>();
  #watch: Map<string, number | null>;
  #cursor: string | undefined;
  #reconnect: (() => void) | undefined;

  constructor(connect: Connect, options: SummaryStreamOptions) {
    this.#connect = connect;
    this.#options = options;
    this.#cursor = options.cursor;
    this.#watch = new Map(Object.entries(options.watch ?? {}));
  }

  /** The position of the stream. A new stream with this cursor continues here. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Changes the watched sessions. Sessions that stay watched continue at their position. */
  setWatch(watch: Readonly<Record<string, number | null>>): void {
    this.#watch = new Map(Object.entries(watch));
    for (const id of this.#sequences.keys()) if (!this.#watch.has(id)) this.#sequences.delete(id);
    this.#reconnect?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamFrame> {
    const connect = async (signal: AbortSignal): Promise<Response> => {
      const changed = new AbortController();
      this.#reconnect = () => changed.abort();
      return this.#connect(this.#query(), AbortSignal.any([signal, changed.signal]));
    };
    for await (const messages of reconnectingMessages(connect, this.#options)) {
      for (const { id, data } of messages) {
        const frame = JSON.parse(data) as StreamFrame;
        const isNew = this.#isNew(frame);
        // Set before the frame is yielded, because a reader that leaves its loop in the body has received the frame.
        if (id !== undefined) this.#cursor = id;
        if (isNew) yield frame;
      }
    }
  }

  #query(): Record<string, string> {
    const watch = [...this.#watch].map(([id, given]) => {
      const after = this.#sequences.get(id) ?? given;
      return after === null ? id : `${id}:${after}`;
    });
    return {
      ...(watch.length > 0 && { watch: watch.join(",") }),
      ...(this.#cursor !== undefined && { cursor: this.#cursor }),
    };
  }

  #isNew(frame: StreamFrame): boolean {
    switch (frame.type) {
      case "event": {
        const { sessionId, event } = frame;
        if (event.seq <= (this.#sequences.get(sessionId) ?? 0)) return false;
        this.#sequences.set(sessionId, event.seq);
        return true;
      }
      case "session": {
        const { id, updatedAt, lastSeq, phase } = frame.session;
        return this.#isNewState(id, `${updatedAt}:${lastSeq}:${phase}`);
      }
      case "approval": {
        const { id, state } = frame.approval;
        return this.#isNewState(id, state);
      }
      default: {
        return true;
      }
    }
  }

  #isNewState(id: string, revision: string): boolean {
    if (this.#states.get(id) === revision) return false;
    this.#states.set(id, revision);
    return true;
  }
}
