import type { Store } from "@codexkit/store";
import { newId } from "./ids.ts";
import type { DaemonTransaction } from "./ownership.ts";
import { type Page, type PageQuery, readNewest } from "./page.ts";
import type { AuditRow, DaemonTables } from "./tables.ts";

export interface AuditEntry {
  readonly by: string;
  readonly action: string;
  readonly sessionId?: string;
  /** ID of the changed object, such as an approval or token. */
  readonly subject?: string;
  /** Must not contain secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Records who changed what. Answers and token changes are recorded by their stores, in the same transaction. */
export class AuditLog {
  readonly #store: Store<DaemonTables>;

  constructor(store: Store<DaemonTables>) {
    this.#store = store;
  }

  async record(entry: AuditEntry, trx?: DaemonTransaction): Promise<void> {
    await (trx ?? this.#store.db)
      .insertInto("audit")
      .values({
        id: newId(),
        at: this.#store.now,
        by: entry.by,
        action: entry.action,
        session_id: entry.sessionId ?? null,
        subject: entry.subject ?? null,
        detail: JSON.stringify(entry.detail ?? {}),
      })
      .execute();
  }

  /** Returns one page of entries, newest first. */
  async list({ sessionId, ...page }: PageQuery & { readonly sessionId?: string } = {}): Promise<
    Page<AuditRow>
  > {
    let select = this.#store.db.selectFrom("audit").selectAll();
    if (sessionId !== undefined) select = select.where("session_id", "=", sessionId);
    return readNewest(select, page);
  }
}
