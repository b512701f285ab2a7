import type { WebhookMessage } from "../api/webhook.ts";
import type { Database } from "../database.ts";
import type { WebhookDeliveryRow } from "../database/tables.ts";
import { viewApproval, viewSession } from "../views.ts";

/** Composes the body of a delivery from the current state. Resolves to undefined if the session no longer exists. */
export async function composeMessage(
  { sessions, inbox, journal }: Database,
  { session_id: sessionId, type, seq, subject, created_at: at }: WebhookDeliveryRow,
): Promise<WebhookMessage | undefined> {
  const session = await sessions.get(sessionId);
  if (!session || session.phase === "deleted") return undefined;
  const { events } = await journal.read(sessionId, { after: seq - 1, limit: 1 });
  // The event may have been removed by retention.
  const event = events.find((each) => each.seq === seq);
  const approval = type === "approval.opened" ? await inbox.get(subject ?? "") : undefined;
  return {
    type,
    at,
    session: viewSession(session),
    ...(event && { event }),
    ...(approval && { approval: viewApproval(approval) }),
  };
}
