import type { WebhookMessage } from "../api/webhook.ts";
import type { Database } from "../database.ts";
import type { WebhookDeliveryRow } from "../database/tables.ts";
import { viewApproval, viewSession } from "../views.ts";

/** What a delivery says, as things are now. Undefined if the session is gone. */
export async function composeMessage(
  { sessions, inbox, journal }: Database,
  { session_id: sessionId, type, seq, subject, created_at: at }: WebhookDeliveryRow,
): Promise<WebhookMessage | undefined> {
  const session = await sessions.get(sessionId);
  if (!session || session.phase === "deleted") return undefined;
  const { events } = await journal.read(sessionId, { after: seq - 1, limit: 1 });
  // Retention may have removed it.
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
