import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { SessionEvent } from "../api/event.ts";
import type { DaemonTables } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { EventBatch } from "./event-batch.ts";
import type { StoredEvent } from "./event-row.ts";
import type { JournalLimits } from "./limits.ts";

/** Stored events after a cursor. */
export interface EventsAfter {
  readonly batch: EventBatch;
  /** Whether further events were stored when these were read. */
  readonly hasMore: boolean;
}

export interface StoredPage {
  readonly batch: EventBatch;
  /** Set if retention has removed events after the cursor. `batch` starts after the gap. */
  readonly gap?: { readonly from: number; readonly to: number };
  /** Sequence number of the newest stored event. */
  readonly lastSeq: number;
}

/** Reads pages of events from the store. */
export class EventReader {
  readonly #store: Store<DaemonTables>;
  readonly #pageBytes: number;

  constructor(store: Store<DaemonTables>, { pageBytes }: Pick<JournalLimits, "pageBytes">) {
    this.#store = store;
    this.#pageBytes = pageBytes;
  }

  async bounds(sessionId: string): Promise<{ readonly firstSeq: number; readonly lastSeq: number }> {
    const row = await this.#store.db
      .selectFrom("session")
      .select(["first_seq as firstSeq", "last_seq as lastSeq"])
      .where("id", "=", sessionId)
      .executeTakeFirst();
    if (!row) throw new DaemonError("session_not_found", `There is no session ${sessionId}.`);
    return row;
  }

  /** Returns the newest sequence numbers of several sessions. */
  async lastSeqs(sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (sessionIds.length === 0) return new Map();
    const rows = await this.#store.db
      .selectFrom("session")
      .select(["id", "last_seq"])
      .where("id", "in", sessionIds)
      .execute();
    return new Map(rows.map(({ id, last_seq: last }) => [id, last]));
  }

  async page(sessionId: string, after: number, limit: number): Promise<StoredPage> {
    const { lastSeq } = await this.bounds(sessionId);
    if (after > lastSeq || after < 0 || !Number.isSafeInteger(after)) {
      throw new DaemonError(
        "invalid_cursor",
        `Expected a sequence number from 0 to ${lastSeq}, the newest event of session ${sessionId}, but received the cursor ${after}.`,
      );
    }
    const { batch } = await this.after(sessionId, after, limit);
    // Read after the events, so that the gap includes events that retention removed in the meantime.
    const { firstSeq } = await this.bounds(sessionId);
    if (after + 1 >= firstSeq) return { batch, lastSeq };
    return { batch: batch.after(firstSeq - 1), gap: { from: after + 1, to: firstSeq - 1 }, lastSeq };
  }

  /** Reads up to `limit` events, or fewer if they are large, but at least one. */
  async after(sessionId: string, after: number, limit: number): Promise<EventsAfter> {
    // Sums up the sizes first, which both stores know without reading the texts. Every event that another node stores is read in
    // this way, and Kysely's builder would take longer than the store.
    const { rows } = await sql<StoredEvent & { readonly following: number | null }>`
      select seq, epoch, at, type, turn_id, item_id, data, following
      from event join (
        select seq as next_seq, octet_length(data) as bytes, sum(octet_length(data)) over (order by seq) as total,
          lead(seq) over (order by seq) as following
        from event where session_id = ${sessionId} and seq > ${after} order by seq limit ${limit}
      ) as next on seq = next_seq
      where session_id = ${sessionId} and (total <= ${this.#pageBytes} or total = bytes)
      order by seq`.execute(this.#store.db);
    const hasMore = (rows.at(-1)?.following ?? null) !== null;
    return { batch: new EventBatch(rows), hasMore };
  }

  /** Returns the newest event of a type, of one turn or of all turns that were not reverted. */
  async latest(sessionId: string, type: string, turnId?: string): Promise<SessionEvent | undefined> {
    // Without the hint, SQLite scans all events of the session backwards.
    const hint = this.#store.kind === "sqlite" ? sql`indexed by event_type` : sql``;
    const ofTurn = turnId === undefined ? sql`` : sql`and turn_id = ${turnId}`;
    const { rows } = await sql<{ seq: number }>`
      select seq from event ${hint}
      where session_id = ${sessionId} and type = ${type} and type <> 'item.delta' ${ofTurn}
        and exists (select 1 from turn where turn.session_id = event.session_id and turn.turn_id = event.turn_id)
      order by seq desc limit 1
    `.execute(this.#store.db);
    const seq = rows[0]?.seq;
    if (seq === undefined) return undefined;
    const { batch } = await this.after(sessionId, seq - 1, 1);
    return batch.events[0];
  }
}
