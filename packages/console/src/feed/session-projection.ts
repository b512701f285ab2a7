import type { Command, Item, Session, SessionEvent, TurnSummary } from "@codexkit/daemon/client";
import {
  appendDelta,
  countCharacters,
  countTexts,
  cutItem,
  fromHistory,
  type ItemRecord,
  itemKey,
} from "./item-record.ts";
import { AgentList } from "./agent-list.ts";
import { diffStat } from "./diff-stat.ts";
import { queueAfter } from "./queue-after.ts";
import { isNotice, toNotice } from "./transcript-notice.ts";
import type { Agent, Plan, SessionUsage, TranscriptNotice, TurnDiff } from "./types.ts";

export type EntryRecord = ({ readonly type: "item" } & ItemRecord) | TranscriptNotice;
type Gap = Extract<SessionEvent, { readonly type: "gap" }>;

/** The parts of a session that a batch of events has changed. */
export interface ProjectionChanges {
  /** Keys of items with a new state. */
  readonly items: Set<string>;
  /** Keys of items whose text has grown. */
  readonly texts: Set<string>;
  entries: boolean;
  turns: boolean;
  state: boolean;
}

/** Limits of the loaded entries. Beyond them, the oldest are dropped, and loaded again on scrolling. */
export const PROJECTION_LIMITS = {
  entries: 4_000,
  gaps: 100,
  /** 32 MB, because strings have two bytes per character. */
  characters: 16 * 1024 * 1024,
} as const;

/**
 * The page's state of one session, from the loaded pages of its history and all events since. The result does not depend on
 * whether events are split, repeated or delivered over several connections.
 */
export class SessionProjection {
  lastSeq = 0;
  /**
   * Events up to this one happened before the history was read. Only data that the history does not contain is taken from them,
   * because the history may have been reverted since.
   */
  historySeq = 0;
  /** Whether the history must be read again, because it was reverted to a turn that is not loaded. */
  isOutdated = false;
  /** Sorted by `firstSeq`. */
  entries: readonly EntryRecord[] = [];
  plan: Plan | null = null;
  diff: TurnDiff | null = null;
  usage: SessionUsage = { total: null, turn: null, contextWindow: null };
  gaps: readonly Gap[] = [];
  queue: readonly Command[] = [];
  /** Whether entries before the first one exist. */
  hasOlder = false;
  /** Whether entries were dropped that may be on screen, or because of the limit of characters. */
  hasDroppedText = false;
  readonly #limits: { readonly entries: number; readonly characters: number };
  /** Number of characters of each item, and of all items. */
  readonly #sizes = new Map<string, number>();
  #characters = 0;
  readonly #items = new Map<string, { readonly type: "item" } & ItemRecord>();
  readonly #turns = new Map<string, TurnSummary>();
  /** Beginnings of the turns that started before the history was read. */
  readonly #pastTurns = new Map<string, number>();
  readonly #agents = new AgentList();
  #rootThreadId: string | null = null;
  #changes = noChanges();

  constructor(limits: { readonly entries?: number; readonly characters?: number } = {}) {
    this.#limits = { ...PROJECTION_LIMITS, ...limits };
  }

  /** Whether no more text can be held. */
  get isFull(): boolean {
    return this.#characters >= this.#limits.characters;
  }

  /** Whether there is twice as much text as the limit allows. */
  get isOverfull(): boolean {
    return this.#characters >= 2 * this.#limits.characters;
  }

  get agents(): readonly Agent[] {
    return this.#agents.list;
  }

  /** Turns, oldest first. */
  get turns(): readonly TurnSummary[] {
    return [...this.#turns.values()].toSorted((a, b) => a.firstSeq - b.firstSeq);
  }

  item(key: string): ItemRecord | undefined {
    return this.#items.get(key);
  }

  /** Returns what has changed since the last call. */
  takeChanges(): ProjectionChanges {
    const changes = this.#changes;
    this.#changes = noChanges();
    return changes;
  }

  setSession({ threadId, usage }: Session): void {
    this.#rootThreadId = threadId;
    if (usage && usage.totalTokens >= (this.usage.total?.totalTokens ?? 0)) {
      this.usage = { ...this.usage, total: usage };
      this.#changes.state = true;
    }
  }

  /** Adds a page of the history. An item that is known is replaced only by a newer state. */
  addItems(rows: readonly Item[], hasOlder?: boolean): void {
    for (const row of rows) {
      const key = itemKey(row.turnId, row.id);
      const known = this.#items.get(key);
      if (known && known.lastSeq >= row.lastSeq) {
        known.firstSeq = Math.min(known.firstSeq, row.firstSeq);
        continue;
      }
      const record = fromHistory(row);
      if (known) Object.assign(known, record);
      else this.#insert({ type: "item", ...record });
      this.#changes.items.add(key);
      this.#resize(key, countCharacters(record));
      if (this.#agents.note(record)) this.#changes.state = true;
    }
    if (hasOlder !== undefined) this.hasOlder = hasOlder;
    this.#sort();
  }

  /** Adds the notices of another state of the session. */
  addNotices(entries: readonly EntryRecord[]): void {
    this.entries = [...this.entries, ...entries.filter(({ type }) => type === "notice")];
    this.#sort();
  }

  addTurns(turns: readonly TurnSummary[]): void {
    for (const turn of turns) {
      const known = this.#turns.get(turn.id);
      if (!known || known.lastSeq < turn.lastSeq) this.#turns.set(turn.id, turn);
    }
    this.#changes.turns = true;
  }

  setQueue(queue: readonly Command[]): void {
    this.queue = queue;
    this.#changes.state = true;
  }

  setPlan(plan: Plan): void {
    if (this.plan === null) this.plan = plan;
    this.#changes.state = true;
  }

  setDiff(diff: TurnDiff): void {
    if (this.diff === null) this.diff = diff;
    this.#changes.state = true;
  }

  /** Drops the oldest entries if there are many more than the limit, or too much text. Returns their keys. */
  trim(): readonly string[] {
    const { entries, characters } = this.#limits;
    // Several entries at once, because each removal creates a new list.
    let count = this.entries.length > entries * 1.1 ? this.entries.length - entries : 0;
    if (this.#characters > characters) {
      let left = this.#characters;
      for (const [index, { key }] of this.entries.entries()) {
        // The newest entry is on screen.
        if (left <= characters * 0.9 || index === this.entries.length - 1) break;
        left -= this.#sizes.get(key) ?? 0;
        count = Math.max(count, index + 1);
      }
      this.hasDroppedText = true;
    }
    if (count === 0) return [];
    const dropped = this.entries.slice(0, count).map(({ key }) => key);
    for (const key of dropped) this.#forget(key);
    this.entries = this.entries.slice(dropped.length);
    this.hasOlder = true;
    this.#changes.entries = true;
    return dropped;
  }

  /** Applies an event. Ignores an event that was applied before. */
  apply(event: SessionEvent): void {
    if (event.seq <= this.lastSeq) return;
    this.lastSeq = event.seq;
    this.#takeFlags(event);
    if (event.seq <= this.historySeq) this.#applyPast(event);
    else this.#applyNew(event);
    if (event.type === "gap") this.gaps = [...this.gaps, event].slice(-PROJECTION_LIMITS.gaps);
    if (isNotice(event)) {
      this.entries = [...this.entries, toNotice(event)];
      this.#sort();
    }
  }

  /**
   * Takes the flags of an item, which the history does not contain. The item may be in the list already: the history is read
   * before some of the events that it contains are received.
   */
  #takeFlags(event: SessionEvent): void {
    if (event.type !== "item.started" && event.type !== "item.completed" && event.type !== "item.delta")
      return;
    const isDelta = event.type === "item.delta";
    const isMerged = isDelta && event.merged;
    if (!event.recovered && !isMerged) return;
    const record = this.#items.get(itemKey(event.turnId, isDelta ? event.itemId : event.item.id));
    if (!record) return;
    record.wasRecovered ||= event.recovered ?? false;
    record.wasMerged ||= isMerged ?? false;
    this.#changes.items.add(record.key);
  }

  /** Takes only what the history does not contain: the usage of the newest turn, and which notices were reverted. */
  #applyPast(event: SessionEvent): void {
    switch (event.type) {
      case "turn.started": {
        this.#pastTurns.set(event.turnId, event.seq);
        break;
      }
      case "usage.updated": {
        if (!this.#isRoot(event.threadId)) return;
        const total = this.usage.total ?? event.total;
        this.usage = { total, turn: event.usage, contextWindow: event.contextWindow };
        this.#changes.state = true;
        break;
      }
      case "session.updated": {
        const before = event.changes["revertedBefore"];
        if (typeof before !== "string") return;
        const first = this.#pastTurns.get(before) ?? 0;
        this.entries = this.entries.filter(
          ({ type, firstSeq }) => type === "item" || firstSeq < first || firstSeq >= event.seq,
        );
        this.#changes.entries = true;
        break;
      }
      default:
    }
  }

  #applyNew(event: SessionEvent): void {
    switch (event.type) {
      case "item.started":
      case "item.completed": {
        this.#applyItem(event);
        break;
      }
      case "item.delta": {
        const record = this.#items.get(itemKey(event.turnId, event.itemId));
        if (!record || record.status !== "running") return;
        const before = countTexts(record);
        if (appendDelta(record, event)) this.#changes.texts.add(record.key);
        this.#resize(record.key, (this.#sizes.get(record.key) ?? 0) + countTexts(record) - before);
        break;
      }
      case "item.abandoned": {
        const record = this.#items.get(itemKey(event.turnId, event.itemId));
        if (!record || record.lastSeq >= event.seq) return;
        record.status = "abandoned";
        record.lastSeq = event.seq;
        this.#changes.items.add(record.key);
        break;
      }
      case "turn.started":
      case "turn.completed":
      case "turn.failed":
      case "turn.interrupted": {
        this.#applyTurn(event);
        break;
      }
      case "plan.updated": {
        if (!this.#isRoot(event.threadId)) return;
        this.plan = { turnId: event.turnId, steps: event.plan, explanation: event.explanation };
        this.#changes.state = true;
        break;
      }
      case "diff.updated": {
        const turn = this.#turns.get(event.turnId);
        if (turn) this.#turns.set(turn.id, { ...turn, diffStat: diffStat(event.diff) });
        this.#changes.turns = true;
        if (!this.#isRoot(event.threadId)) return;
        this.diff = { turnId: event.turnId, diff: event.diff };
        this.#changes.state = true;
        break;
      }
      case "usage.updated": {
        const turn = this.#turns.get(event.turnId);
        if (turn) this.#turns.set(turn.id, { ...turn, usage: event.usage });
        this.#changes.turns = true;
        if (!this.#isRoot(event.threadId)) return;
        this.usage = { total: event.total, turn: event.usage, contextWindow: event.contextWindow };
        this.#changes.state = true;
        break;
      }
      case "session.updated": {
        const before = event.changes["revertedBefore"];
        if (typeof before === "string") this.#revert(before, event.seq);
        break;
      }
      case "command.accepted":
      case "command.started":
      case "command.finished": {
        const queue = queueAfter(this.queue, event);
        if (queue !== this.queue) this.setQueue(queue);
        break;
      }
      default:
    }
  }

  #applyItem(event: Extract<SessionEvent, { readonly type: "item.started" | "item.completed" }>): void {
    const key = itemKey(event.turnId, event.item.id);
    const known = this.#items.get(key);
    if (known && known.lastSeq >= event.seq) return;
    const isDone = event.type === "item.completed";
    const status = isDone ? endStatus(event.item) : "running";
    const record: ItemRecord = {
      key,
      id: event.item.id,
      threadId: event.threadId,
      turnId: event.turnId,
      kind: event.item.type,
      firstSeq: known?.firstSeq ?? event.seq,
      lastSeq: event.seq,
      status,
      ...cutItem(event.item),
      texts: isDone ? [] : (known?.texts ?? []),
      wasMerged: known?.wasMerged ?? false,
      wasRecovered: event.recovered ?? known?.wasRecovered ?? false,
    };
    if (known) Object.assign(known, record);
    else {
      this.#insert({ type: "item", ...record });
      this.#sort();
    }
    this.#changes.items.add(key);
    this.#resize(key, countCharacters(record));
    if (this.#agents.note(record)) this.#changes.state = true;
    const turn = this.#turns.get(event.turnId);
    if (turn && turn.title === "" && event.item.type === "userMessage") {
      const text = event.item.content.find((part) => part.type === "text")?.text ?? "";
      this.#turns.set(turn.id, { ...turn, title: text.trimStart().split("\n", 1)[0] ?? "" });
      this.#changes.turns = true;
    }
  }

  #applyTurn(
    event: Extract<
      SessionEvent,
      { readonly type: "turn.started" | "turn.completed" | "turn.failed" | "turn.interrupted" }
    >,
  ): void {
    const known = this.#turns.get(event.turnId);
    if (known && known.lastSeq >= event.seq) return;
    const hasEnded = event.type !== "turn.started";
    this.#turns.set(event.turnId, {
      title: "",
      usage: null,
      diffStat: null,
      startedAt: event.at,
      firstSeq: event.seq,
      ...known,
      id: event.turnId,
      threadId: event.threadId,
      status: hasEnded ? (event.type.slice("turn.".length) as TurnSummary["status"]) : "running",
      lastSeq: event.seq,
      endedAt: hasEnded ? event.at : null,
    });
    this.#changes.turns = true;
  }

  /** Removes a turn and everything since then. `seq` is the event that reports it. */
  #revert(beforeTurnId: string, seq: number): void {
    // The beginning of the turn may not be known, but some of its items.
    const first = Math.min(
      this.#turns.get(beforeTurnId)?.firstSeq ?? Infinity,
      this.entries.find(({ turnId }) => turnId === beforeTurnId)?.firstSeq ?? Infinity,
    );
    if (first === Infinity) {
      this.isOutdated = true;
      // It is unknown which of them happened before the turn.
      this.entries = this.entries.filter(({ type }) => type === "item");
      return;
    }
    const isKept = ({ firstSeq }: { readonly firstSeq: number }): boolean =>
      firstSeq < first || firstSeq >= seq;
    for (const [id, turn] of this.#turns) if (!isKept(turn)) this.#turns.delete(id);
    for (const entry of this.entries) if (!isKept(entry)) this.#forget(entry.key);
    this.entries = this.entries.filter(isKept);
    this.#changes.entries = true;
    this.#changes.turns = true;
  }

  #insert(record: { readonly type: "item" } & ItemRecord): void {
    this.#items.set(record.key, record);
    this.entries = [...this.entries, record];
  }

  #resize(key: string, characters: number): void {
    this.#characters += characters - (this.#sizes.get(key) ?? 0);
    this.#sizes.set(key, characters);
  }

  #forget(key: string): void {
    this.#resize(key, 0);
    this.#sizes.delete(key);
    this.#items.delete(key);
  }

  #sort(): void {
    this.#changes.entries = true;
    const { entries } = this;
    const isSorted = entries.every(
      (entry, index) => index === 0 || (entries[index - 1]?.firstSeq ?? 0) <= entry.firstSeq,
    );
    if (!isSorted) this.entries = entries.toSorted((a, b) => a.firstSeq - b.firstSeq);
  }

  #isRoot(threadId: string): boolean {
    return this.#rootThreadId === null || threadId === this.#rootThreadId;
  }
}

function endStatus(item: { readonly type: string; readonly status?: unknown }): "completed" | "failed" {
  return item.status === "failed" || item.status === "declined" ? "failed" : "completed";
}

function noChanges(): ProjectionChanges {
  return { items: new Set(), texts: new Set(), entries: false, turns: false, state: false };
}
