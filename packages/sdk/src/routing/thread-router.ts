import type { v2 } from "@codexkit/protocol";
import type { CodexError } from "../errors.ts";
import { AgentTree } from "./agent-tree.ts";
import { EndedTurns } from "./ended-turns.ts";
import { ThreadChannel } from "./thread-channel.ts";
import type { LiveTurn } from "../turn/live-turn.ts";
import { AgentEvents } from "./agent-events.ts";
import { Backpressure } from "../events/backpressure.ts";
import { EventLog } from "../events/event-log.ts";
import type { CodexEvent, RawMessage, TurnEndEvent } from "../events/event.ts";
import { parseNotification, type ParsedNotification } from "../events/parse-notification.ts";

/** How many threads that were let go are remembered, until the server stops telling of them. */
const LET_GO_THREADS = 1024;

/** Sends every notification to its thread, and there to its turn; everything passes the common stream too. */
export class ThreadRouter {
  /** Every event of every thread that this client hears of. */
  readonly events = new EventLog({ history: false });
  /** Who started whom. */
  readonly agents = new AgentTree();
  readonly #channels = new Map<string, ThreadChannel>();
  /** Threads that someone holds; the others' channels go when their turn ends. */
  readonly #held = new Set<string>();
  /** Threads that were held: the server may say a few more words of them, and never how their turns end. */
  readonly #letGo = new Set<string>();
  readonly #endedTurns = new EndedTurns();
  readonly #endListeners = new Set<(end: TurnEndEvent) => void>();
  /** Readers of a thread together with its agents, by the thread. */
  readonly #agentEvents = new Map<string, Set<AgentEvents>>();
  readonly #backpressure: Backpressure;

  /** @param onBackpressure Stops, and continues, the reading from the server. */
  constructor(onBackpressure: (isPaused: boolean) => void = () => {}) {
    this.#backpressure = new Backpressure(onBackpressure);
  }

  /** The channel of a thread, kept until it is let go. */
  hold(threadId: string): ThreadChannel {
    this.#letGo.delete(threadId);
    this.#held.add(threadId);
    const channel = this.#channelOf(threadId);
    this.#channels.set(threadId, channel);
    return channel;
  }

  /** Nobody listens to this thread any more: its turns end here with `closed`, and go on with the server. */
  letGo(threadId: string): void {
    this.#held.delete(threadId);
    this.#letGo.add(threadId);
    const [oldest] = this.#letGo;
    if (this.#letGo.size > LET_GO_THREADS && oldest !== undefined) this.#letGo.delete(oldest);
    const channel = this.#channels.get(threadId);
    this.#channels.delete(threadId);
    channel?.close();
    for (const reading of this.#agentEvents.get(threadId) ?? []) reading.end();
    this.#agentEvents.delete(threadId);
    this.agents.forget(threadId);
  }

  /** Every event, as it came. A slow reader stops the reading from the server. */
  readLossless(): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    return this.events.readLossless(this.#backpressure);
  }

  /** The events of a thread and of all agents below it, until it is let go. */
  readWithAgents(threadId: string): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const readings = this.#agentEvents.get(threadId) ?? new Set<AgentEvents>();
    const reading = new AgentEvents(threadId, {
      tree: this.agents,
      isHeld: (id) => this.#held.has(id),
      onLeft: () => {
        readings.delete(reading);
        if (readings.size === 0 && this.#agentEvents.get(threadId) === readings) {
          this.#agentEvents.delete(threadId);
        }
      },
    });
    if (this.#held.has(threadId)) {
      this.#agentEvents.set(threadId, readings);
      readings.add(reading);
    } else {
      reading.end();
    }
    return reading.read();
  }

  find(threadId: string): ThreadChannel | undefined {
    return this.#channels.get(threadId);
  }

  /** The channels of the threads that someone holds. */
  *heldChannels(): Generator<ThreadChannel, void, undefined> {
    for (const threadId of this.#held) {
      const channel = this.#channels.get(threadId);
      if (channel) yield channel;
    }
  }

  /** Hears how every turn ends, also of one that the server did not tell about. */
  onTurnEnd(listener: (end: TurnEndEvent) => void): Disposable {
    const entry = (end: TurnEndEvent): void => listener(end);
    this.#endListeners.add(entry);
    return { [Symbol.dispose]: () => void this.#endListeners.delete(entry) };
  }

  route(raw: RawMessage): void {
    const reading = parseNotification(raw);
    const threadId = threadIdOf(reading);
    if (threadId === undefined) {
      // Only what has a thread needs its state to become an event.
      if (reading.type !== "usage" && reading.type !== "turn-end") this.#publish(reading);
      return;
    }
    // A subagent's thread, or another client's, gets its channel by a turn in it; a broadcast of its status is not enough.
    const channel = this.#channelOf(threadId);
    channel.take(reading);
    if (channel.activeTurn && !this.#letGo.has(threadId)) this.#channels.set(threadId, channel);
    else this.#dropUnheld(channel);
  }

  /** Shows an event that is not a notification. */
  show(event: CodexEvent): void {
    const { threadId } = event;
    const channel = threadId === undefined ? undefined : this.#channels.get(threadId);
    if (channel) channel.show(event);
    else this.#publish(event);
  }

  /** The item of a turn that runs, as it is known now. */
  item(threadId: string, itemId: string): v2.ThreadItem | undefined {
    return this.#channels.get(threadId)?.item(itemId);
  }

  /** The items of the turns of a thread that run. */
  items(threadId: string): readonly v2.ThreadItem[] {
    return this.#channels.get(threadId)?.items() ?? [];
  }

  /** Ends one turn that the server lost track of. */
  fail(turn: LiveTurn, error: CodexError): void {
    const channel = this.#channels.get(turn.threadId);
    channel?.fail(turn, error);
    if (channel) this.#dropUnheld(channel);
  }

  /** The server is gone: every turn that runs ends now. */
  failAll(error: CodexError): void {
    for (const channel of this.#channels.values()) {
      channel.failAll(error);
      this.#dropUnheld(channel);
    }
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
    this.#held.clear();
    for (const reading of [...this.#agentEvents.values()].flatMap((readings) => [...readings])) reading.end();
    this.#agentEvents.clear();
    this.events.end();
  }

  #publish(event: CodexEvent): void {
    this.agents.observe(event);
    this.events.push(event);
    for (const readings of this.#agentEvents.values()) {
      for (const reading of readings) reading.push(event);
    }
    if (
      event.type === "turn.completed" ||
      event.type === "turn.failed" ||
      event.type === "turn.interrupted"
    ) {
      for (const listener of this.#endListeners) listener(event);
    }
  }

  #channelOf(threadId: string): ThreadChannel {
    return (
      this.#channels.get(threadId) ??
      new ThreadChannel(threadId, { publish: (event) => this.#publish(event), ended: this.#endedTurns })
    );
  }

  #dropUnheld({ threadId, activeTurn }: ThreadChannel): void {
    if (!activeTurn && !this.#held.has(threadId)) this.#channels.delete(threadId);
  }
}

function threadIdOf(reading: ParsedNotification): string | undefined {
  return "params" in reading ? reading.params.threadId : reading.threadId;
}
