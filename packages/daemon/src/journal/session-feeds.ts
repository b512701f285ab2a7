import { type Notifier, StoreError } from "@codexkit/store";
import { notificationKeys } from "../database/notifications.ts";
import { DaemonError } from "../errors.ts";
import type { EventBatch } from "./event-batch.ts";
import type { EventReader } from "./event-reader.ts";
import type { JournalLimits } from "./limits.ts";
import { SessionFeed } from "./session-feed.ts";

/** Delay before a failed read of new events is retried, because a local notifier has no polls. */
const RELOAD_MS = 1_000;

/** The feeds of all sessions that have readers in this process. */
export class SessionFeeds {
  readonly #notifier: Notifier;
  readonly #reader: EventReader;
  readonly #limits: JournalLimits;
  readonly #entries = new Map<string, { readonly feed: SessionFeed; readonly listening: Disposable }>();
  readonly #polled = new Set<SessionFeed>();
  /** True while this process notifies about its own commits, which its feeds already have. */
  #isNotifying = false;
  #isClosed = false;

  constructor(notifier: Notifier, reader: EventReader, limits: JournalLimits) {
    this.#notifier = notifier;
    this.#reader = reader;
    this.#limits = limits;
  }

  /** Hands events that this process has committed to the readers of their session. */
  push(sessionId: string, events: EventBatch): void {
    this.#entries.get(sessionId)?.feed.push(events);
  }

  /** Notifies the other processes, but not the feeds of this one. */
  notifyOthers(keys: ReadonlySet<string>): void {
    this.#isNotifying = true;
    try {
      this.#notifier.notify(keys);
    } finally {
      this.#isNotifying = false;
    }
  }

  /** Returns the feed of a session. Call `release` when its reader ends. */
  async open(sessionId: string, after: number): Promise<SessionFeed> {
    const { lastSeq } = await this.#reader.bounds(sessionId);
    if (after > lastSeq || after < 0 || !Number.isSafeInteger(after)) {
      throw new DaemonError(
        "invalid_cursor",
        `Expected a sequence number from 0 to ${lastSeq}, the newest event of session ${sessionId}, but received the cursor ${after}.`,
      );
    }
    let entry = this.#entries.get(sessionId);
    if (!entry) {
      const feed = new SessionFeed(
        sessionId,
        lastSeq,
        this.#limits.tailBytes,
        (id, last) => this.#reader.after(id, last, this.#limits.pageEvents),
        (error) => this.#reload(feed, error),
      );
      const listening = this.#notifier.subscribe(notificationKeys.journal(sessionId), (hint) => {
        if (this.#isNotifying) return;
        if (hint === "poll") this.#poll(feed);
        else feed.refresh();
      });
      entry = { feed, listening };
      this.#entries.set(sessionId, entry);
      // Loads what was committed between the query above and the subscription.
      feed.refresh();
    }
    entry.feed.readers += 1;
    return entry.feed;
  }

  release(feed: SessionFeed): void {
    feed.readers -= 1;
    const entry = this.#entries.get(feed.sessionId);
    if (feed.readers > 0 || entry?.feed !== feed) return;
    entry.listening[Symbol.dispose]();
    this.#entries.delete(feed.sessionId);
  }

  /** Ends all readers with an error. */
  close(error: DaemonError): void {
    this.#isClosed = true;
    for (const { feed, listening } of this.#entries.values()) {
      listening[Symbol.dispose]();
      feed.close(error);
    }
    this.#entries.clear();
  }

  /** Batches the feeds of a poll, which are called one after the other, into one query. */
  #poll(feed: SessionFeed): void {
    this.#polled.add(feed);
    if (this.#polled.size > 1) return;
    queueMicrotask(() => {
      const feeds = [...this.#polled].map((polled) => ({ polled, last: polled.last }));
      this.#polled.clear();
      this.#reader
        .lastSeqs(feeds.map(({ polled }) => polled.sessionId))
        .then((lastSeqs) => {
          for (const { polled, last } of feeds) {
            if (this.#entries.get(polled.sessionId)?.feed !== polled) continue;
            this.#compare(polled, last, lastSeqs.get(polled.sessionId) ?? 0);
          }
        })
        // The next poll retries.
        .catch(() => {});
    });
  }

  /** @param sent The feed's newest number before `lastSeq` was queried. */
  #compare(feed: SessionFeed, sent: number, lastSeq: number): void {
    if (lastSeq > feed.last) feed.refresh();
    if (!feed.isLostFor(lastSeq < sent, this.#limits.rewindGraceMs)) return;
    // No owner has stored the lost events again. New events would reuse the numbers of events that the readers already have.
    this.#entries.get(feed.sessionId)?.listening[Symbol.dispose]();
    this.#entries.delete(feed.sessionId);
    feed.close(rewound(feed, lastSeq));
  }

  #reload(feed: SessionFeed, error: Error): void {
    if (this.#isClosed || !StoreError.is(error)) return feed.close(error);
    setTimeout(() => {
      if (this.#entries.get(feed.sessionId)?.feed === feed) feed.refresh();
    }, RELOAD_MS).unref();
  }
}

function rewound({ sessionId, last }: SessionFeed, lastSeq: number): DaemonError {
  return new DaemonError(
    "invalid_cursor",
    `The store was reset to an older state: the newest event of session ${sessionId} is ${lastSeq}, but events up to ${last} were sent. Read the session again from its beginning.`,
  );
}
