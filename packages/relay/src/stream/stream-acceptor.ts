import { BoundedSet } from "@codexkit/rpc/async";
import { RELAY_LIMITS } from "../limits.ts";
import { AcceptorChannel } from "./acceptor-channel.ts";
import type { AcceptorContext, StreamAcceptorOptions } from "./acceptor-options.ts";
import { createCounters } from "./counters.ts";
import type { FrameChannel } from "./frame-channel.ts";

/** Number of ended streams to remember, whose late frames are ignored. */
const ENDED_STREAMS = 1024;

/** The executor's end: accepts the streams of harnesses that a rendezvous multiplexes over one connection. */
export class StreamAcceptor {
  readonly #context: AcceptorContext;
  readonly #channels = new Set<AcceptorChannel>();
  #isClosed = false;

  constructor(options: StreamAcceptorOptions) {
    this.#context = {
      options,
      limits: { ...RELAY_LIMITS, ...options.limits },
      counters: options.counters ?? createCounters(),
      streams: new Map(),
      endedStreams: new BoundedSet(ENDED_STREAMS),
      pendingValidations: 0,
    };
  }

  /** Number of established streams. */
  get activeStreams(): number {
    return this.#context.streams.size;
  }

  /** Whether a stream waits for its resumption. */
  get hasSuspendedStreams(): boolean {
    return this.#context.streams.values().some(({ stream }) => stream.isSuspended);
  }

  /**
   * Serves a connection to the rendezvous, with the registration that it was made for. Reliable streams that lost their
   * connection continue on this one. Resolves when it has ended, with its cause unless it ended normally. Takes the channel
   * over.
   */
  async serve(channel: FrameChannel, registrationId: string): Promise<Error | undefined> {
    if (this.#isClosed) {
      await channel.close();
      return undefined;
    }
    const served = new AcceptorChannel(channel, registrationId, this.#context);
    this.#channels.add(served);
    const cause = await served.closed;
    this.#channels.delete(served);
    // The next connection may have been made before this one was known to be lost.
    [...this.#channels].at(-1)?.adoptDetached();
    return cause;
  }

  /** Ends all streams and connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#context.streams.values()].map(({ stream }) => stream.close()));
    await Promise.all([...this.#channels].map((channel) => channel.close()));
  }
}
