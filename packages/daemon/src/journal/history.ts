import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import { DEFAULT_PAGE, type Page } from "../database/page.ts";
import type { DaemonTables, ItemRow, TurnRow } from "../database/tables.ts";
import { decodeEvent } from "./event-row.ts";
import { longestText, textAt } from "../api/item-text.ts";
import { cutMiddle } from "./item-preview.ts";

/** Number of events that are searched for the text of a running item, at its beginning and at its end. */
const RUNNING_EVENTS = 2_000;
const DEFAULT_BODY = 65_536;

export interface ItemsQuery {
  /** The `first_seq` of the last item of the previous page. */
  readonly before?: number;
  readonly limit?: number;
  readonly turnId?: string;
  readonly threadId?: string;
}

export interface ItemBodyQuery {
  readonly offset?: number;
  readonly limit?: number;
  /** JSON pointer of a text in the item, such as a key of `truncated` in its preview. Default: the longest text. */
  readonly path?: string;
}

export interface ItemBody {
  /** A part of the text: a message, the output of a command, a diff. */
  readonly text: string;
  /** UTF-16 offset of `text` in the whole text. */
  readonly offset: number;
  /** Length of the whole text. It grows while the item is running. */
  readonly length: number;
}

/** Items and turns as clients show them. */
export class History {
  readonly #store: Store<DaemonTables>;

  constructor(store: Store<DaemonTables>) {
    this.#store = store;
  }

  async items(sessionId: string, query: ItemsQuery = {}): Promise<readonly ItemRow[]> {
    let select = this.#store.db
      .selectFrom("item")
      .selectAll()
      .where("session_id", "=", sessionId)
      .orderBy("first_seq", "desc")
      .limit(query.limit ?? DEFAULT_PAGE);
    if (query.before !== undefined) select = select.where("first_seq", "<", query.before);
    if (query.turnId !== undefined) select = select.where("turn_id", "=", query.turnId);
    if (query.threadId !== undefined) select = select.where("thread_id", "=", query.threadId);
    return Promise.all((await select.execute()).map((row) => this.#withRunningText(row)));
  }

  async item(sessionId: string, itemId: string): Promise<ItemRow | undefined> {
    const row = await this.#findItem(sessionId, itemId);
    return row && (await this.#withRunningText(row));
  }

  async itemBody(
    sessionId: string,
    itemId: string,
    { offset = 0, limit = DEFAULT_BODY, path }: ItemBodyQuery = {},
  ): Promise<ItemBody | undefined> {
    const row = await this.#findItem(sessionId, itemId);
    if (!row) return undefined;
    const text =
      row.completed_seq === null ? await this.#joinDeltas(row) : await this.#completeText(row, path);
    if (text === undefined) return undefined;
    return { text: text.slice(offset, offset + limit), offset, length: text.length };
  }

  async turns(
    sessionId: string,
    { before, limit = DEFAULT_PAGE }: { readonly before?: number; readonly limit?: number } = {},
  ): Promise<Page<TurnRow>> {
    let select = this.#store.db
      .selectFrom("turn")
      .selectAll()
      .where("session_id", "=", sessionId)
      .orderBy("first_seq", "desc")
      .limit(limit + 1);
    if (before !== undefined) select = select.where("first_seq", "<", before);
    const found = await select.execute();
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    return found.length > limit && last ? { rows, nextCursor: String(last.first_seq) } : { rows };
  }

  async runningItems(sessionId: string): Promise<readonly ItemRow[]> {
    return (
      this.#store.db
        .selectFrom("item")
        .selectAll()
        .where("session_id", "=", sessionId)
        // A literal instead of a parameter, so that SQLite can use the partial index.
        .where(sql<boolean>`status = 'running'`)
        .orderBy("first_seq")
        .execute()
    );
  }

  async #findItem(sessionId: string, itemId: string): Promise<ItemRow | undefined> {
    const rows = await this.#store.db
      .selectFrom("item")
      .selectAll()
      .where("session_id", "=", sessionId)
      .where("item_id", "=", itemId)
      .execute();
    // Sorted here, because with an order and a limit SQLite would scan all items of the session.
    return rows.toSorted((a, b) => b.first_seq - a.first_seq)[0];
  }

  /** Adds the text streamed so far to the preview of a running item, as `streamed`. */
  async #withRunningText(row: ItemRow): Promise<ItemRow> {
    if (row.status !== "running") return row;
    const [head, tail] = await Promise.all([this.#deltas(row, "asc"), this.#deltas(row, "desc")]);
    const last = tail[0];
    if (!last) return row;
    const sameText = ({ kind, index }: Delta): boolean => kind === last.kind && index === last.index;
    const parts = new Map<number, string>();
    for (const delta of [...head, ...tail].filter(sameText)) parts.set(delta.offset, delta.delta);
    const length = last.offset + last.delta.length;
    const text = [...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part);
    const streamed = { kind: last.kind, index: last.index, text: cutMiddle(text.join("")), length };
    const preview = { ...(JSON.parse(row.preview) as object), streamed };
    return { ...row, preview: JSON.stringify(preview), body_length: Math.max(row.body_length, length) };
  }

  async #deltas(row: ItemRow, order: "asc" | "desc", limit = RUNNING_EVENTS): Promise<Delta[]> {
    const rows = await this.#store.db
      .selectFrom((from) =>
        from
          .selectFrom("event")
          .select(["seq", "epoch", "at", "type", "turn_id", "item_id", "data"])
          .where("session_id", "=", row.session_id)
          .where("seq", ">", row.first_seq)
          .orderBy("seq", order)
          .limit(limit)
          .as("near"),
      )
      .selectAll()
      .where("item_id", "=", row.item_id)
      .where("turn_id", "=", row.turn_id)
      .where("type", "=", "item.delta")
      .orderBy("seq", order)
      .execute();
    return rows.map((delta) => decodeEvent(delta) as unknown as Delta);
  }

  async #joinDeltas(row: ItemRow): Promise<string> {
    const deltas = await this.#deltas(row, "asc", Number.MAX_SAFE_INTEGER);
    const texts = new Map<string, string>();
    for (const { kind, index, delta } of deltas) {
      const key = `${kind} ${index ?? 0}`;
      texts.set(key, (texts.get(key) ?? "") + delta);
    }
    return longestText([...texts.values()]);
  }

  async #completeText(row: ItemRow, path: string | undefined): Promise<string | undefined> {
    const found = await this.#store.db
      .selectFrom("event")
      .select("data")
      .where("session_id", "=", row.session_id)
      .where("seq", "=", row.completed_seq)
      .executeTakeFirst();
    if (!found) return undefined;
    const { item } = JSON.parse(found.data) as { item: unknown };
    return path === undefined ? longestText(item) : textAt(item, path);
  }
}

interface Delta {
  readonly kind: string;
  readonly index?: number;
  readonly delta: string;
  readonly offset: number;
}
