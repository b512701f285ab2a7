import {
  type DaemonClient,
  DaemonClientError,
  type Session,
  type SessionEvent,
} from "@codexkit/daemon/client";
import { type Accessor, createMemo, createRoot, createSignal, getOwner, onCleanup } from "solid-js";
import type { Approval } from "@codexkit/daemon/client";
import { SessionProjection } from "./session-projection.ts";
import { ReactiveItem } from "./transcript-item.ts";
import type { PlanStep, SessionView, TranscriptEntry, TranscriptItem } from "./types.ts";

export interface SessionFeedDeps {
  readonly client: DaemonClient;
  readonly session: (id: string) => Session | undefined;
  readonly addSession: (session: Session) => void;
  readonly addApprovals: (approvals: readonly Approval[]) => void;
  readonly approvals: Accessor<readonly Approval[]>;
  /** Starts the stream of events after a sequence number. */
  readonly startAfter: (seq: number) => void;
}

const PAGE = 200;
/**
 * Number of past events that are read when a session is opened, for their notices, which the history of items does not contain.
 */
const LOOK_BACK = 200;

/** An open session: its projection, and the signals through which screens read it. */
export class SessionFeed {
  readonly view: SessionView;
  readonly #projection = new SessionProjection();
  readonly #deps: SessionFeedDeps;
  readonly #id: string;
  readonly #items = new Map<string, ReactiveItem>();
  readonly #listeners = new Set<(event: SessionEvent) => void>();
  readonly #dispose: () => void;
  readonly #setStatus: (status: "loading" | "ready" | "missing") => void;
  readonly #notifyEntries: () => void;
  readonly #notifyTurns: () => void;
  readonly #notifyState: () => void;
  readonly #setLastSeq: (seq: number) => void;
  /** Events that arrived before the history was loaded. */
  #early: SessionEvent[] | undefined = [];
  #older: Promise<void> | undefined;
  #keepsOlder = false;

  constructor(id: string, deps: SessionFeedDeps) {
    this.#id = id;
    this.#deps = deps;
    const projection = this.#projection;
    const [status, setStatus] = createSignal<"loading" | "ready" | "missing">("loading");
    const [entriesChanged, notifyEntries] = createSignal<unknown>(undefined, { equals: false });
    const [turnsChanged, notifyTurns] = createSignal<unknown>(undefined, { equals: false });
    const [stateChanged, notifyState] = createSignal<unknown>(undefined, { equals: false });
    const [lastSeq, setLastSeq] = createSignal(0);
    this.#setStatus = setStatus;
    this.#notifyEntries = () => notifyEntries(undefined);
    this.#notifyTurns = () => notifyTurns(undefined);
    this.#notifyState = () => notifyState(undefined);
    this.#setLastSeq = setLastSeq;
    const { signals, dispose } = createRoot((end) => {
      const of = <Value>(changed: Accessor<unknown>, read: () => Value): Accessor<Value> =>
        createMemo(() => {
          changed();
          return read();
        });
      const entries = of<readonly TranscriptEntry[]>(entriesChanged, () =>
        projection.entries.map((entry) => (entry.type === "item" ? this.#item(entry.key) : entry)),
      );
      return {
        dispose: end,
        signals: {
          entries,
          items: createMemo(() =>
            entries().filter((entry): entry is TranscriptItem => entry.type === "item"),
          ),
          turns: of(turnsChanged, () => projection.turns),
          plan: of(stateChanged, () => projection.plan),
          diff: of(stateChanged, () => projection.diff),
          usage: of(stateChanged, () => projection.usage),
          agents: of(stateChanged, () => projection.agents),
          queue: of(stateChanged, () => projection.queue),
          gaps: of(entriesChanged, () => projection.gaps),
          hasOlder: of(entriesChanged, () => projection.hasOlder && !projection.isFull),
          textLimit: of(entriesChanged, () =>
            projection.isFull ? "full" : projection.hasDroppedText ? "dropped" : "none",
          ),
          approvals: createMemo(() => deps.approvals().filter(({ sessionId }) => sessionId === id)),
        },
      };
    });
    this.#dispose = dispose;
    this.view = {
      id,
      session: () => deps.session(id),
      phase: () => deps.session(id)?.phase,
      status,
      lastSeq,
      ...signals,
      item: (itemId) => signals.items().findLast((item) => item.id === itemId),
      loadOlder: async () => this.#loadOlder(),
      loadAround: async (seq) => this.#loadAround(seq),
      keepOlder: (isNeeded) => {
        this.#keepsOlder = isNeeded;
        if (isNeeded || this.#early) return;
        this.#trim();
        this.#publish();
      },
      onEvent: (listener) => {
        this.#listeners.add(listener);
        if (getOwner()) onCleanup(() => this.#listeners.delete(listener));
      },
    };
    void this.#load();
  }

  /** Whether this session is watched, and from which event on. */
  get position(): number {
    return this.#projection.lastSeq;
  }

  apply(events: readonly SessionEvent[]): void {
    if (this.#early) {
      this.#early.push(...events);
      return;
    }
    for (const event of events) this.#projection.apply(event);
    if (!this.#keepsOlder) this.#trim();
    for (const listener of this.#listeners) for (const event of events) listener(event);
    this.#publish();
  }

  /** Handles the stream's report that the session does not exist. */
  markMissing(): void {
    this.#setStatus("missing");
  }

  dispose(): void {
    this.#dispose();
    this.#listeners.clear();
  }

  async #load(): Promise<void> {
    const { client } = this.#deps;
    const params = { sessionId: this.#id };
    try {
      const session = await client.request("GET /sessions/{sessionId}", { params });
      this.#deps.addSession(session);
      this.#projection.setSession(session);
      // The history is read after this position, so that it contains everything before it.
      const start = Math.max(session.firstSeq - 1, session.lastSeq - LOOK_BACK, 0);
      this.#deps.startAfter(start);
      const [items, turns, queue, plan, diff, approvals] = await Promise.all([
        client.request("GET /sessions/{sessionId}/items", { params, query: { limit: PAGE } }),
        client.request("GET /sessions/{sessionId}/turns", { params, query: { limit: PAGE } }),
        client.request("GET /sessions/{sessionId}/commands", { params }),
        client.request("GET /sessions/{sessionId}/plan", { params }),
        client.request("GET /sessions/{sessionId}/diff", { params }),
        client.request("GET /inbox", { query: { sessionId: this.#id, limit: PAGE } }),
      ]);
      this.#projection.lastSeq = start;
      this.#projection.addItems(items.data, items.next !== null);
      this.#projection.addTurns(turns.data);
      this.#projection.setQueue(queue.data);
      this.#projection.setPlan({
        turnId: plan.turnId,
        steps: plan.plan as readonly PlanStep[],
        explanation: plan.explanation,
      });
      this.#projection.setDiff(diff);
      this.#deps.addApprovals(approvals.data);
      const early = this.#early ?? [];
      this.#early = undefined;
      this.apply(early);
      this.#setStatus("ready");
    } catch (error) {
      if (DaemonClientError.is(error) && (error.status === 404 || error.status === 410)) this.markMissing();
      // The connection was lost. The stream reconnects, and its next event opens the session again.
      else setTimeout(() => void this.#load(), 2_000);
    }
  }

  async #loadOlder(): Promise<void> {
    this.#older ??= this.#readOlder().finally(() => {
      this.#older = undefined;
    });
    await this.#older;
  }

  async #readOlder(): Promise<void> {
    const oldest = this.#projection.entries.find((entry) => entry.type === "item");
    if (!oldest || !this.#projection.hasOlder || this.#projection.isFull) return;
    const page = await this.#deps.client.request("GET /sessions/{sessionId}/items", {
      params: { sessionId: this.#id },
      query: { before: oldest.firstSeq, limit: PAGE },
    });
    this.#projection.addItems(page.data, page.next !== null);
    this.#publish();
  }

  async #loadAround(seq: number): Promise<void> {
    while (this.view.hasOlder() && (this.#projection.entries[0]?.firstSeq ?? 0) > seq) {
      await this.#loadOlder();
    }
  }

  #trim(): void {
    for (const key of this.#projection.trim()) this.#items.delete(key);
  }

  #item(key: string): ReactiveItem {
    let item = this.#items.get(key);
    if (!item) {
      const record = this.#projection.item(key);
      if (!record) throw new Error(`The projection has no item ${key}.`);
      item = new ReactiveItem(record);
      this.#items.set(key, item);
    }
    return item;
  }

  #publish(): void {
    const changes = this.#projection.takeChanges();
    for (const key of changes.items) this.#items.get(key)?.notifyState();
    for (const key of changes.texts) this.#items.get(key)?.notifyText();
    if (changes.entries) this.#notifyEntries();
    if (changes.turns) this.#notifyTurns();
    if (changes.state) this.#notifyState();
    this.#setLastSeq(this.#projection.lastSeq);
  }
}
