import type { NewSessionEvent, SessionEvent } from "../api/event.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { SessionChanges } from "../database/session-columns.ts";
import { encodeEvent, type EncodedEvent } from "./event-row.ts";

/** Events that a person or a program waits for. */
const URGENT: ReadonlySet<string> = new Set<SessionEvent["type"]>([
  "turn.completed",
  "turn.failed",
  "turn.interrupted",
  "approval.requested",
  "question.requested",
  "session.deleted",
]);

/** A request of an owner to store something in one transaction. */
export interface WriteRequest {
  readonly owner: Ownership;
  readonly events?: readonly NewSessionEvent[];
  readonly changes?: SessionChanges;
  readonly also?: (trx: DaemonTransaction) => Promise<unknown>;
  /** Set if the session may have no more work after this write. Then it is checked whether the session still needs an owner. */
  readonly mayBecomeIdle?: boolean;
  /** Set if the write may wait to share a commit with others. */
  readonly canWait?: boolean;
  /** Set if the events are a history that is older than the session. No webhook is told of its turns. */
  readonly isHistory?: boolean;
  /** Keys to notify after the commit, besides those of the journal. */
  readonly notify?: readonly string[];
}

/** Receives the outcome of a write. */
export interface WriteListener {
  /** Omitted if no caller waits for the stored events. */
  readonly onStored?: (events: readonly SessionEvent[]) => void;
  readonly onError: (error: unknown) => void;
}

/** A write that waits for its transaction. */
export class PendingWrite {
  readonly request: WriteRequest;
  readonly listener: WriteListener;
  readonly #events: EncodedEvent[] = [];
  #bytes = 0;
  #isUrgent: boolean;

  constructor(request: WriteRequest, listener: WriteListener) {
    this.request = request;
    this.listener = listener;
    this.#isUrgent = request.canWait !== true;
    this.add(request.events ?? []);
  }

  get events(): readonly EncodedEvent[] {
    return this.#events;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether it is stored immediately, together with everything else that is waiting. */
  get isUrgent(): boolean {
    return this.#isUrgent;
  }

  /** Adds events to a write that is still waiting. */
  add(events: readonly NewSessionEvent[]): void {
    for (const event of events) {
      const encoded = encodeEvent(event, this.request.owner.mask);
      this.#events.push(encoded);
      this.#bytes += encoded.data.length;
      this.#isUrgent ||= URGENT.has(event.type);
    }
  }
}

/** The writes of one owner in one transaction, in their order. */
export interface WriteGroup {
  readonly owner: Ownership;
  readonly writes: readonly PendingWrite[];
}

export function groupByOwner(writes: readonly PendingWrite[]): WriteGroup[] {
  const groups = new Map<string, { owner: Ownership; writes: PendingWrite[] }>();
  for (const write of writes) {
    const { owner } = write.request;
    const key = `${owner.sessionId} ${owner.nodeId} ${owner.epoch}`;
    const group = groups.get(key);
    if (group) group.writes.push(write);
    else groups.set(key, { owner, writes: [write] });
  }
  return [...groups.values()];
}
