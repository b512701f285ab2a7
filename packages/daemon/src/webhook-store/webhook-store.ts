import type { Store } from "@codexkit/store";
import type { WebhookEventType } from "../api/webhook.ts";
import type { AuditLog } from "../database/audit-log.ts";
import { newId } from "../database/ids.ts";
import { notificationKeys } from "../database/notifications.ts";
import { type Page, type PageQuery, readNewest } from "../database/page.ts";
import type { DaemonTables, WebhookDeliveryRow, WebhookRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { newWebhookSecret } from "./signature.ts";

export interface NewWebhook {
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  readonly name?: string;
  /** Default: all sessions. */
  readonly sessionId?: string;
  /** Default: a new one. */
  readonly secret?: string;
  /** Who creates it, for the audit log. */
  readonly by: string;
}

/** A delivery that this node tries now. */
export interface DueDelivery {
  readonly delivery: WebhookDeliveryRow;
  readonly webhook: WebhookRow;
}

/** What became of an attempt. */
export type DeliveryOutcome =
  | { readonly state: "delivered"; readonly status: number }
  | {
      readonly state: "failed" | "pending";
      readonly status: number | null;
      readonly error: string;
      /** Milliseconds until the next attempt, for `pending`. */
      readonly retryMs?: number;
      /** Whether the receiver wants no more messages. */
      readonly isGone?: boolean;
    };

/** Webhooks, and the messages for them. */
export class WebhookStore {
  readonly #store: Store<DaemonTables>;
  readonly #audit: AuditLog;

  constructor(store: Store<DaemonTables>, audit: AuditLog) {
    this.#store = store;
    this.#audit = audit;
  }

  /** `secret` is returned here only. Rejects with `unprocessable` if there are `maxWebhooks` already. */
  async create(
    { url, events, name, sessionId, secret = newWebhookSecret(), by }: NewWebhook,
    maxWebhooks: number,
  ): Promise<{ readonly webhook: WebhookRow; readonly secret: string }> {
    const webhook = await this.#store.db.transaction().execute(async (trx) => {
      const { count } = await trx
        .selectFrom("webhook")
        .select((select) => select.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      if (count >= maxWebhooks) {
        throw new DaemonError("unprocessable", `There are ${maxWebhooks} webhooks, which is the limit.`);
      }
      const row = await trx
        .insertInto("webhook")
        .values({
          id: newId(),
          url,
          secret,
          events: JSON.stringify([...new Set(events)]),
          name: name ?? null,
          session_id: sessionId ?? null,
          created_by: by,
          created_at: this.#store.now,
          disabled_at: null,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await this.#audit.record(
        {
          by,
          action: "webhook.created",
          subject: row.id,
          detail: { host: new URL(url).host, events },
          ...(sessionId === undefined ? {} : { sessionId }),
        },
        trx,
      );
      return row;
    });
    return { webhook, secret };
  }

  async list(): Promise<readonly WebhookRow[]> {
    return this.#store.db.selectFrom("webhook").selectAll().orderBy("id").execute();
  }

  async require(id: string): Promise<WebhookRow> {
    const row = await this.#store.db
      .selectFrom("webhook")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirst();
    if (!row) throw new DaemonError("not_found", `There is no webhook "${id}".`);
    return row;
  }

  /** Deletes a webhook and its messages. Rejects with `not_found`. */
  async delete(id: string, by: string): Promise<void> {
    await this.#store.db.transaction().execute(async (trx) => {
      const { numDeletedRows } = await trx.deleteFrom("webhook").where("id", "=", id).executeTakeFirst();
      if (numDeletedRows === 0n) throw new DaemonError("not_found", `There is no webhook "${id}".`);
      await trx.deleteFrom("webhook_delivery").where("webhook_id", "=", id).execute();
      await this.#audit.record({ by, action: "webhook.deleted", subject: id }, trx);
    });
  }

  /** Newest first. */
  async deliveries(webhookId: string, query: PageQuery = {}): Promise<Page<WebhookDeliveryRow>> {
    const select = this.#store.db
      .selectFrom("webhook_delivery")
      .selectAll()
      .where("webhook_id", "=", webhookId);
    return readNewest(select, query);
  }

  /** Tries a message again, from now on. Enables a webhook whose receiver answered 410. */
  async retry(webhookId: string, deliveryId: string): Promise<WebhookDeliveryRow> {
    const row = await this.#store.db.transaction().execute(async (trx) => {
      const updated = await trx
        .updateTable("webhook_delivery")
        .set({ state: "pending", attempts: 0, next_at: this.#store.now, finished_at: null })
        .where("id", "=", deliveryId)
        .where("webhook_id", "=", webhookId)
        .returningAll()
        .executeTakeFirst();
      if (!updated) throw new DaemonError("not_found", `There is no delivery "${deliveryId}".`);
      await trx.updateTable("webhook").set({ disabled_at: null }).where("id", "=", webhookId).execute();
      return updated;
    });
    this.#store.notifier.notify([notificationKeys.webhooks]);
    return row;
  }

  /**
   * Takes the message that has been due longest. No other node takes it before `holdMs` have passed, so that a node that dies
   * does not keep it.
   *
   * @param busy Webhooks that have as many messages on their way as they may have.
   */
  async claim({
    holdMs,
    busy,
  }: {
    readonly holdMs: number;
    readonly busy: readonly string[];
  }): Promise<DueDelivery | undefined> {
    return this.#store.db.transaction().execute(async (trx) => {
      let due = trx
        .selectFrom("webhook_delivery")
        .innerJoin("webhook", "webhook.id", "webhook_delivery.webhook_id")
        .select("webhook_delivery.id")
        .where("webhook_delivery.state", "=", "pending")
        .where("webhook_delivery.next_at", "<=", this.#store.now)
        .where("webhook.disabled_at", "is", null)
        .orderBy("webhook_delivery.next_at")
        .limit(1);
      if (busy.length > 0) due = due.where("webhook.id", "not in", [...busy]);
      if (this.#store.kind === "postgres") due = due.forUpdate("webhook_delivery").skipLocked();
      const found = await due.executeTakeFirst();
      if (!found) return undefined;
      const delivery = await trx
        .updateTable("webhook_delivery")
        .set((set) => ({
          attempts: set("attempts", "+", 1),
          next_at: set(this.#store.now, "+", holdMs),
        }))
        .where("id", "=", found.id)
        .returningAll()
        .executeTakeFirstOrThrow();
      const webhook = await trx
        .selectFrom("webhook")
        .selectAll()
        .where("id", "=", delivery.webhook_id)
        .executeTakeFirstOrThrow();
      return { delivery, webhook };
    });
  }

  /** Records an attempt, unless the message was claimed again meanwhile. */
  async finish({ delivery }: DueDelivery, outcome: DeliveryOutcome): Promise<void> {
    await this.#store.db.transaction().execute(async (trx) => {
      const isPending = outcome.state === "pending";
      await trx
        .updateTable("webhook_delivery")
        .set((set) => ({
          state: outcome.state,
          status: outcome.status,
          error: outcome.state === "delivered" ? null : outcome.error,
          ...(isPending ? { next_at: set(this.#store.now, "+", outcome.retryMs ?? 0) } : {}),
          finished_at: isPending ? null : this.#store.now,
        }))
        .where("id", "=", delivery.id)
        .where("attempts", "=", delivery.attempts)
        .execute();
      if (outcome.state !== "delivered" && outcome.isGone === true) {
        await trx
          .updateTable("webhook")
          .set({ disabled_at: this.#store.now })
          .where("id", "=", delivery.webhook_id)
          .execute();
      }
    });
  }

  /** Milliseconds until the next message is due, or undefined if none is waiting. The webhooks of `busy` don't count. */
  async nextDueIn(busy: readonly string[]): Promise<number | undefined> {
    let select = this.#store.db
      .selectFrom("webhook_delivery")
      .innerJoin("webhook", "webhook.id", "webhook_delivery.webhook_id")
      .select(({ fn }) => [fn.min("next_at").as("nextAt"), this.#store.now.as("now")])
      .where("webhook_delivery.state", "=", "pending")
      .where("webhook.disabled_at", "is", null);
    if (busy.length > 0) select = select.where("webhook.id", "not in", [...busy]);
    const row = await select.executeTakeFirst();
    const nextAt = row?.nextAt as number | null | undefined;
    return nextAt === null || nextAt === undefined ? undefined : Math.max(0, nextAt - (row?.now ?? 0));
  }

  /** Deletes the records of finished deliveries, and messages that have waited as long for a disabled webhook. */
  async prune(keepMs: number): Promise<void> {
    const { now, db } = this.#store;
    await db
      .deleteFrom("webhook_delivery")
      .where("state", "<>", "pending")
      .where("finished_at", "<", (where) => where(now, "-", keepMs))
      .execute();
    await db
      .deleteFrom("webhook_delivery")
      .where("state", "=", "pending")
      .where("created_at", "<", (where) => where(now, "-", keepMs))
      .where("webhook_id", "in", (select) =>
        select.selectFrom("webhook").select("id").where("disabled_at", "is not", null),
      )
      .execute();
  }
}
