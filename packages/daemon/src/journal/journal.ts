import type { NewSessionEvent, SessionEvent } from "../api/event.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { Page } from "../database/session-store.ts";
import type { ItemRow, TurnRow } from "../database/tables.ts";

/** Limits of the journal. Times are milliseconds, sizes are bytes of JSON. */
export interface JournalLimits {
  /** Deltas wait this long for company. Other events are stored at once. Default: 20. */
  readonly flushMs: number;
  /** Waiting bytes from which deltas are stored at once. Default: 64 KiB. */
  readonly flushBytes: number;
  /** Unstored bytes from which `waitForCapacity` waits. Default: 8 MiB. */
  readonly maxUnstoredBytes: number;
  /** How long an append is tried again while the store is full or can't be reached. Default: 600,000. */
  readonly retryMs: number;
  /** Newest events that are kept in memory for the readers of a session. Default: 256 KiB. */
  readonly tailBytes: number;
}

export interface JournalPage {
  readonly events: readonly SessionEvent[];
  /** Set if events after the cursor were removed by retention. `events` go on after the gap. */
  readonly gap?: { readonly from: number; readonly to: number };
  /** Sequence number of the newest stored event. */
  readonly lastSeq: number;
}

export interface ItemBody {
  /** The longest text of the item: a message, the output of a command, a diff. */
  readonly text: string;
  /** UTF-16 offset of `text` in the whole body. */
  readonly offset: number;
  /** Length of the whole body. It grows while the item is running. */
  readonly length: number;
}

export interface Retention {
  /** Deltas of completed items are merged after this time. Default: never. */
  readonly mergeAfterMs?: number;
  /** Events are removed after this time. Default: never. */
  readonly maxAgeMs?: number;
  /** Oldest events are removed until the journal of a session is smaller. Default: no limit. */
  readonly maxBytes?: number;
}

/** Every event of every session, with gapless sequence numbers. */
export interface Journal {
  /**
   * Appends events and updates the items, turns and session that they describe, in one transaction with `also`. Resolves after
   * the commit; events of one session are stored in the order of the calls, so that callers need not wait for each call.
   * Transactions of several calls are combined. While the store is full or can't be reached, it is tried again. Rejects with
   * `fenced` if the session has another owner. `also` may run more than once; only the last run is committed.
   */
  append(
    owner: Ownership,
    events: readonly NewSessionEvent[],
    also?: (trx: DaemonTransaction) => Promise<void>,
  ): Promise<readonly SessionEvent[]>;
  /** Resolves at once unless too much is waiting to be stored. Callers that don't wait for `append` wait here instead. */
  waitForCapacity(signal?: AbortSignal): Promise<void>;
  /**
   * Events after a sequence number. Rejects with `session_not_found`, and with `invalid_cursor` for a cursor that is newer
   * than the newest event.
   */
  read(
    sessionId: string,
    options?: { readonly after?: number; readonly limit?: number },
  ): Promise<JournalPage>;
  /**
   * Stored events after the cursor, then new ones, in batches and without repetition. A gap is yielded as a `gap` event whose
   * `seq` is the last missing number. A slow reader costs no memory: it reads from the store. Ends when the signal aborts,
   * after `session.deleted`, or when the database is closed. Readers at the same position get the same array object.
   */
  follow(
    sessionId: string,
    options?: { readonly after?: number; readonly signal?: AbortSignal },
  ): AsyncIterable<readonly SessionEvent[]>;
  /** Newest first. `before` is the `first_seq` of the last item of the page before. */
  items(
    sessionId: string,
    options?: {
      readonly before?: number;
      readonly limit?: number;
      readonly turnId?: string;
      readonly threadId?: string;
    },
  ): Promise<readonly ItemRow[]>;
  item(sessionId: string, itemId: string): Promise<ItemRow | undefined>;
  /** Undefined if the item does not exist, or if retention has removed its body. */
  itemBody(
    sessionId: string,
    itemId: string,
    options?: { readonly offset?: number; readonly limit?: number },
  ): Promise<ItemBody | undefined>;
  /** Newest first. */
  turns(
    sessionId: string,
    options?: { readonly before?: number; readonly limit?: number },
  ): Promise<Page<TurnRow>>;
  /** The newest event of a type, such as `plan.updated` or `diff.updated`. */
  latest<Type extends SessionEvent["type"]>(
    sessionId: string,
    type: Type,
  ): Promise<Extract<SessionEvent, { readonly type: Type }> | undefined>;
  /** Items without an end. After a crash, the owner ends them with `item.abandoned`. */
  runningItems(sessionId: string): Promise<readonly ItemRow[]>;
  /** Merges and removes old events. Readers in the removed part get a gap. */
  retain(retention: Retention): Promise<{ readonly merged: number; readonly removed: number }>;
}
