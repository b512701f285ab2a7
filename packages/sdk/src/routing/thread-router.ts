import type { v2 } from "@codexkit/protocol";
import { BoundedSet } from "@codexkit/rpc/async";
import type { CodexError } from "../errors.ts";
import { Backpressure } from "../events/backpressure.ts";
import { EventLog } from "../events/event-log.ts";
import { type CodexEvent, isTurnEnd, type RawMessage, type TurnEndEvent } from "../events/event.ts";
import { type ParsedNotification, parseNotification } from "../events/parse-notification.ts";
import type { LiveTurn } from "../turn/live-turn.ts";
import { AgentEvents, type ThreadRelations } from "./agent-events.ts";
import { AgentTree } from "./agent-tree.ts";
import { EventBuffer } from "./event-buffer.ts";
import { createEndedTurns, ThreadChannel } from "./thread-channel.ts";

/** Number of released threads to remember, because the server may still send notifications about them. */
const RELEASED_THREADS = 1024;

/** Routes every notification to its thread, and from there to its turn. All events also go to the common stream. */
export class ThreadRouter {
  /** Events of all threads, and those without a thread. */
  readonly events = new EventLog({ history: false });
  /** Parents and children of agent threads. */
  readonly agents = new AgentTree();
  readonly #channels = new Map<string, ThreadChannel>();
  /** Threads in use by this client. Channels of other threads are dropped when their turn ends. */
  readonly #held = new Set<string>();
  /** Threads that were held before. The server may still send notifications about them, but not the ends of their turns. */
  readonly #released = new BoundedSet<string>(RELEASED_THREADS);
  readonly #endedTurns = createEndedTurns();
  readonly #endListeners = new Set<(end: TurnEndEvent) => void>();
  /** Readers of a thread together with its agents, by thread ID. */
  readonly #agentReaders = new Map<string, Set<AgentEvents>>();
  /** Buffers of threads that are being opened. */
  readonly #unassignedBuffers = new Set<EventBuffer>();
  /** Buffers of open threads whose events have had no reader yet, by thread ID. */
  readonly #buffers = new Map<string, EventBuffer>();
  readonly #relations: ThreadRelations = { tree: this.agents, isHeld: (id) => this.#held.has(id) };
  readonly #backpressure: Backpressure;

  /** @param onBackpressure Pauses and resumes reading from the server. */
  constructor(onBackpressure: (isPaused: boolean) => void = () => {}) {
    this.#backpressure = new Backpressure(onBackpressure);
  }

  /** The channel of a thread, kept until the thread is released. */
  hold(threadId: string): ThreadChannel {
    this.#released.delete(threadId);
    this.#held.add(threadId);
    const channel = this.#channelOf(threadId);
    this.#channels.set(threadId, channel);
    return channel;
  }

  /** Stops tracking a thread. Its turns fail here with `closed` and continue on the server. */
  release(threadId: string): void {
    this.#held.delete(threadId);
    this.#released.add(threadId);
    const channel = this.#channels.get(threadId);
    this.#channels.delete(threadId);
    channel?.close();
    for (const reader of this.#agentReaders.get(threadId) ?? []) reader.end();
    this.#agentReaders.delete(threadId);
    this.#buffers.delete(threadId);
    this.agents.forget(threadId);
  }

  /** Reads every event unmerged. A slow reader pauses reading from the server. */
  readLossless(): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    return this.events.readLossless(this.#backpressure);
  }

  /**
   * Opens a thread, and keeps all events about it since the call for its first reader.
   * @param open Opens the thread and holds it.
   */
  async buffered<Opened extends { readonly id: string }>(open: () => Promise<Opened>): Promise<Opened> {
    const buffer = new EventBuffer(this.#relations);
    this.#unassignedBuffers.add(buffer);
    try {
      const opened = await open();
      buffer.assign(opened.id);
      // A resumed thread may have a buffer already, which has all of these events and earlier ones.
      if (this.#held.has(opened.id) && !this.#buffers.has(opened.id)) this.#buffers.set(opened.id, buffer);
      return opened;
    } finally {
      this.#unassignedBuffers.delete(buffer);
    }
  }

  /** Reads the events of a thread until it is released: first the buffered ones, if this is the first reader. */
  read({ threadId, events }: ThreadChannel): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const earlier = this.#takeBuffered(threadId);
    return events.read(
      earlier.filter((event) => event.threadId === undefined || event.threadId === threadId),
    );
  }

  /** Like `read`, with the events of all agents below the thread. */
  readWithAgents(threadId: string): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const readers = this.#agentReaders.get(threadId) ?? new Set<AgentEvents>();
    const reader = new AgentEvents(threadId, this.#relations, () => {
      readers.delete(reader);
      if (readers.size === 0 && this.#agentReaders.get(threadId) === readers) {
        this.#agentReaders.delete(threadId);
      }
    });
    if (this.#held.has(threadId)) {
      this.#agentReaders.set(threadId, readers);
      readers.add(reader);
    } else {
      reader.end();
    }
    return reader.read(this.#takeBuffered(threadId));
  }

  find(threadId: string): ThreadChannel | undefined {
    return this.#channels.get(threadId);
  }

  /** The channels of the threads in use by this client. */
  *heldChannels(): Generator<ThreadChannel, void, undefined> {
    for (const threadId of this.#held) {
      const channel = this.#channels.get(threadId);
      if (channel) yield channel;
    }
  }

  /** IDs of the threads on which a turn is running, including known agents and threads of other clients. */
  get busyThreads(): readonly string[] {
    return [...this.#channels.values()].flatMap(({ threadId, activeTurn }) => (activeTurn ? [threadId] : []));
  }

  /** Calls the listener when a turn ends, including turns whose end the server did not report. */
  onTurnEnd(listener: (end: TurnEndEvent) => void): Disposable {
    const entry = (end: TurnEndEvent): void => listener(end);
    this.#endListeners.add(entry);
    return { [Symbol.dispose]: () => void this.#endListeners.delete(entry) };
  }

  route(raw: RawMessage): void {
    const notification = parseNotification(raw);
    const threadId = threadIdOf(notification);
    if (threadId === undefined) {
      // Usage and turn ends always name a thread.
      if (notification.type !== "usage" && notification.type !== "turn-end") this.#deliver(notification);
      return;
    }
    // A thread of an agent or of another client gets a channel when a turn runs in it; a status broadcast is not enough.
    const channel = this.#channelOf(threadId);
    channel.receive(notification);
    if (channel.activeTurn && !this.#released.has(threadId)) this.#channels.set(threadId, channel);
    else this.#dropUnheld(channel);
  }

  /** Publishes an event that is not a notification. */
  publish(event: CodexEvent): void {
    const { threadId } = event;
    const channel = threadId === undefined ? undefined : this.#channels.get(threadId);
    if (channel) channel.publish(event);
    else this.#deliver(event);
  }

  /** The latest state of an item of a running turn. */
  item(threadId: string, itemId: string): v2.ThreadItem | undefined {
    return this.#channels.get(threadId)?.item(itemId);
  }

  /** The items of a thread's running turns. */
  items(threadId: string): readonly v2.ThreadItem[] {
    return this.#channels.get(threadId)?.items() ?? [];
  }

  /** Fails one turn that the server lost track of. */
  fail(turn: LiveTurn, error: CodexError): void {
    const channel = this.#channels.get(turn.threadId);
    channel?.fail(turn, error);
    if (channel) this.#dropUnheld(channel);
  }

  /** Fails all running turns, because the connection is lost. */
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
    for (const reader of [...this.#agentReaders.values()].flatMap((readers) => [...readers])) reader.end();
    this.#agentReaders.clear();
    this.#buffers.clear();
    this.events.end();
  }

  #deliver(event: CodexEvent): void {
    this.agents.observe(event);
    this.events.push(event);
    for (const readers of this.#agentReaders.values()) {
      for (const reader of readers) reader.push(event);
    }
    for (const buffer of this.#unassignedBuffers) buffer.push(event);
    for (const buffer of this.#buffers.values()) buffer.push(event);
    if (isTurnEnd(event)) for (const listener of this.#endListeners) listener(event);
  }

  #takeBuffered(threadId: string): CodexEvent[] {
    const events = this.#buffers.get(threadId)?.takeAll() ?? [];
    this.#buffers.delete(threadId);
    return events;
  }

  #channelOf(threadId: string): ThreadChannel {
    return (
      this.#channels.get(threadId) ??
      new ThreadChannel(threadId, { onEvent: (event) => this.#deliver(event), ended: this.#endedTurns })
    );
  }

  #dropUnheld({ threadId, activeTurn }: ThreadChannel): void {
    if (!activeTurn && !this.#held.has(threadId)) this.#channels.delete(threadId);
  }
}

function threadIdOf(notification: ParsedNotification): string | undefined {
  return "params" in notification ? notification.params.threadId : notification.threadId;
}
