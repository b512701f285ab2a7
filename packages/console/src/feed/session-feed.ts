import {
  type DaemonClient,
  DaemonClientError,
  type Item,
  type Session,
  type SessionEvent,
  type TurnSummary,
} from "@codexkit/daemon/client";
import { type Accessor, createMemo, createRoot, createSignal, getOwner, onCleanup } from "solid-js";
import type { Approval } from "@codexkit/daemon/client";
import { PROJECTION_LIMITS, SessionProjection } from "./session-projection.ts";
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

interface ItemPage {
  readonly data: readonly Item[];
  /** Where the next page begins. */
  readonly next: number | null;
}

const PAGE = 200;
/** Interval between attempts to read the history while the connection is lost. */
const RETRY_MS = 2_000;
/**
 * Number of past events that are read when a session is opened, for their notices, which the history of items does not contain.
 */
const LOOK_BACK = 200;

/** An open session: its projection, and the signals through which screens read it. */
export class SessionFeed {
  readonly view: SessionView;
  #projection = new SessionProjection();
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
  readonly #setOlderFailed: (hasFailed: boolean) => void;
  /** Events that arrived before the history was loaded. */
  #early: SessionEvent[] | undefined = [];
  #older: Promise<void> | undefined;
  #keepsOlder = false;
  /** Number of entries that were added since the reader looks at old ones. */
  #addedMeanwhile = 0;
  /** Ends the requests of the current history, and its retries. */
  #controller = new AbortController();

  constructor(id: string, deps: SessionFeedDeps) {
    this.#id = id;
    this.#deps = deps;
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
    const [hasOlderFailed, setOlderFailed] = createSignal(false);
    this.#setOlderFailed = setOlderFailed;
    const { signals, dispose } = createRoot((end) => {
      const of = <Value>(changed: Accessor<unknown>, read: () => Value): Accessor<Value> =>
        createMemo(() => {
          changed();
          return read();
        });
      const entries = of<readonly TranscriptEntry[]>(entriesChanged, () =>
        this.#projection.entries.map((entry) => (entry.type === "item" ? this.#item(entry.key) : entry)),
      );
      return {
        dispose: end,
        signals: {
          entries,
          items: createMemo(() =>
            entries().filter((entry): entry is TranscriptItem => entry.type === "item"),
          ),
          turns: of(turnsChanged, () => this.#projection.turns),
          plan: of(stateChanged, () => this.#projection.plan),
          diff: of(stateChanged, () => this.#projection.diff),
          usage: of(stateChanged, () => this.#projection.usage),
          agents: of(stateChanged, () => this.#projection.agents),
          queue: of(stateChanged, () => this.#projection.queue),
          gaps: of(entriesChanged, () => this.#projection.gaps),
          hasOlder: of(entriesChanged, () => this.#projection.hasOlder && !this.#projection.isFull),
          textLimit: of(entriesChanged, () =>
            this.#projection.isFull ? "full" : this.#projection.hasDroppedText ? "dropped" : "none",
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
      hasOlderFailed,
      loadOlder: async () => this.#loadOlder(),
      loadRange: async (from, to) => this.#loadRange(from, to),
      loadAround: async (seq) => this.#loadAround(seq),
      keepOlder: (isNeeded) => {
        this.#keepsOlder = isNeeded;
        this.#addedMeanwhile = 0;
        if (isNeeded || this.#early) return;
        this.#trim();
        this.#publish();
      },
      onEvent: (listener) => {
        this.#listeners.add(listener);
        if (getOwner()) onCleanup(() => this.#listeners.delete(listener));
      },
    };
    void this.#load(this.#controller.signal);
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
    const projection = this.#projection;
    const count = projection.entries.length;
    for (const event of events) projection.apply(event);
    this.#addedMeanwhile += projection.entries.length - count;
    if (!this.#keepsOlder) this.#trim();
    else if (projection.isOverfull || this.#addedMeanwhile > 2 * PROJECTION_LIMITS.entries) {
      this.#trim();
      projection.hasDroppedText = true;
      this.#addedMeanwhile = 0;
    }
    for (const listener of this.#listeners) for (const event of events) listener(event);
    this.#publish();
    if (projection.isOutdated) this.#restart(projection);
  }

  /** Reads the session again, because the store was restored from an older copy. The page shows the old state until then. */
  restart(): void {
    this.#restart(undefined);
  }

  #restart(previous: SessionProjection | undefined): void {
    this.#controller.abort();
    this.#controller = new AbortController();
    this.#early = [];
    void this.#load(this.#controller.signal, previous);
  }

  /** Handles the stream's report that the session does not exist. */
  markMissing(): void {
    this.#setStatus("missing");
  }

  dispose(): void {
    this.#controller.abort();
    this.#dispose();
    this.#listeners.clear();
  }

  /** @param previous The state whose events have been received, and whose history is outdated. */
  async #load(signal: AbortSignal, previous?: SessionProjection): Promise<void> {
    const { client } = this.#deps;
    const params = { sessionId: this.#id };
    try {
      const session = await client.request("GET /sessions/{sessionId}", { params, signal });
      this.#deps.addSession(session);
      const projection = new SessionProjection();
      projection.setSession(session);
      // The history is read after this position, so that it contains everything before it.
      const start = Math.max(session.firstSeq - 1, session.lastSeq - LOOK_BACK, 0);
      projection.lastSeq = previous?.lastSeq ?? start;
      projection.historySeq = session.lastSeq;
      if (previous) projection.addNotices(previous.entries);
      this.#projection = projection;
      if (!previous) this.#deps.startAfter(start);
      const [items, turns, queue, plan, diff, approvals] = await Promise.all([
        client.request("GET /sessions/{sessionId}/items", { params, query: { limit: PAGE }, signal }),
        client.request("GET /sessions/{sessionId}/turns", { params, query: { limit: PAGE }, signal }),
        client.request("GET /sessions/{sessionId}/commands", { params, signal }),
        client.request("GET /sessions/{sessionId}/plan", { params, signal }),
        client.request("GET /sessions/{sessionId}/diff", { params, signal }),
        client.request("GET /inbox", { query: { sessionId: this.#id, limit: PAGE }, signal }),
      ]);
      projection.addItems(items.data, items.next !== null);
      projection.addTurns(turns.data);
      projection.setQueue(queue.data);
      projection.setPlan({
        turnId: plan.turnId,
        steps: plan.plan as readonly PlanStep[],
        explanation: plan.explanation,
      });
      projection.setDiff(diff);
      this.#deps.addApprovals(approvals.data);
      // The items of another projection.
      this.#items.clear();
      this.#setOlderFailed(false);
      const early = this.#early ?? [];
      this.#early = undefined;
      this.apply(early);
      this.#setStatus("ready");
      if (turns.next !== null) void this.#loadOutline(turns.next, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (DaemonClientError.is(error) && (error.status === 404 || error.status === 410)) this.markMissing();
      else retry(() => void this.#load(signal, previous), signal);
    }
  }

  /** Reads the turns before the newest ones, so that the outline is complete. */
  async #loadOutline(next: number, signal: AbortSignal): Promise<void> {
    let before: number | null = next;
    try {
      while (before !== null) {
        const page: { readonly data: readonly TurnSummary[]; readonly next: number | null } =
          await this.#deps.client.request("GET /sessions/{sessionId}/turns", {
            params: { sessionId: this.#id },
            query: { before, limit: PAGE },
            signal,
          });
        this.#projection.addTurns(page.data);
        this.#publish();
        before = page.next;
      }
    } catch {
      const rest = before;
      if (rest !== null) retry(() => void this.#loadOutline(rest, signal), signal);
    }
  }

  /** Never rejects: `hasOlderFailed` reports a failure. */
  async #loadOlder(): Promise<void> {
    this.#older ??= this.#readOlder()
      .then(
        () => this.#setOlderFailed(false),
        () => this.#setOlderFailed(true),
      )
      .finally(() => {
        this.#older = undefined;
      });
    await this.#older;
  }

  async #readOlder(): Promise<void> {
    const projection = this.#projection;
    if (this.#early || !projection.hasOlder || projection.isFull) return;
    // Without an item, for example if notices have replaced all of them, the newest items are read.
    const before = projection.entries.find((entry) => entry.type === "item")?.firstSeq;
    const page = await this.#readItems(before);
    if (projection !== this.#projection) return;
    projection.addItems(page.data, page.next !== null);
    this.#publish();
  }

  /** Loads the items of missing events from the history, newest first. */
  async #loadRange(from: number, to: number): Promise<void> {
    for (let before: number | null = to + 1; before !== null && before > from && !this.#projection.isFull;) {
      const page: ItemPage = await this.#readItems(before);
      this.#projection.addItems(page.data);
      this.#publish();
      before = page.next;
    }
  }

  async #readItems(before: number | undefined): Promise<ItemPage> {
    return this.#deps.client.request("GET /sessions/{sessionId}/items", {
      params: { sessionId: this.#id },
      query: { limit: PAGE, ...(before !== undefined && { before }) },
      signal: this.#controller.signal,
    });
  }

  async #loadAround(seq: number): Promise<void> {
    for (let count = -1; this.view.hasOlder() && this.#projection.entries.length > count;) {
      if ((this.#projection.entries[0]?.firstSeq ?? 0) <= seq) return;
      count = this.#projection.entries.length;
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

function retry(run: () => void, signal: AbortSignal): void {
  const timer = setTimeout(run, RETRY_MS);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
}
