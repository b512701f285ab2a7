import type { SessionEvent } from "../api/event.ts";
import type { WebhookEventType } from "../api/webhook.ts";
import { newId } from "../database/ids.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { SessionTable } from "../database/tables.ts";

/** An occurrence that webhooks report. Its subject is read when it is delivered. */
interface Notice {
  readonly type: WebhookEventType;
  /** The event that caused it. */
  readonly seq: number;
  /** ID of the approval or turn that it is about. */
  readonly subject: string | null;
}

export interface NoticeSource {
  readonly sessionId: string;
  readonly threadId: string | null;
  readonly events: readonly SessionEvent[];
  /** Columns of the session that the same transaction changes afterwards. */
  readonly columns: Partial<SessionTable>;
  readonly lastSeq: number;
  readonly at: number;
}

/**
 * Stores a delivery for each webhook that subscribes to these events, in the same transaction, so that exactly the committed events
 * are delivered. Resolves to whether there is anything to deliver.
 */
export async function storeNotices(trx: DaemonTransaction, source: NoticeSource): Promise<boolean> {
  const notices = await noticesOf(trx, source);
  if (notices.length === 0) return false;
  const { sessionId, at } = source;
  const hooks = await trx
    .selectFrom("webhook")
    .select(["id", "events"])
    .where("disabled_at", "is", null)
    .where((where) => where.or([where("session_id", "is", null), where("session_id", "=", sessionId)]))
    .execute();
  const deliveries = hooks.flatMap(({ id, events }) => {
    const types = JSON.parse(events) as WebhookEventType[];
    return notices.filter(({ type }) => types.includes(type)).map((notice) => ({ ...notice, webhookId: id }));
  });
  if (deliveries.length === 0) return false;
  await trx
    .insertInto("webhook_delivery")
    .values(
      deliveries.map(({ webhookId, type, seq, subject }) => ({
        id: newId(),
        webhook_id: webhookId,
        session_id: sessionId,
        type,
        seq,
        subject,
        state: "pending" as const,
        attempts: 0,
        next_at: at,
        status: null,
        error: null,
        created_at: at,
        finished_at: null,
      })),
    )
    .execute();
  return true;
}

async function noticesOf(
  trx: DaemonTransaction,
  { sessionId, threadId, events, columns, lastSeq }: NoticeSource,
): Promise<Notice[]> {
  const notices = events.flatMap((event): Notice[] => {
    switch (event.type) {
      case "inbox.opened":
        return [{ type: "approval.opened", seq: event.seq, subject: event.approvalId }];
      case "turn.completed":
      case "turn.failed":
      case "turn.interrupted":
        // The turns of agents are part of the session's own.
        return event.threadId === threadId
          ? [{ type: "turn.ended", seq: event.seq, subject: event.turnId }]
          : [];
      default:
        return [];
    }
  });
  if (columns.phase === "failed") {
    const { phase } = await trx
      .selectFrom("session")
      .select("phase")
      .where("id", "=", sessionId)
      .executeTakeFirstOrThrow();
    if (phase !== "failed") notices.push({ type: "session.failed", seq: lastSeq, subject: null });
  }
  return notices;
}
