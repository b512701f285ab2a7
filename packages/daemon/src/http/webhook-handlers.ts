import { viewDelivery, viewWebhook } from "../views.ts";
import { requirePublicReceiver } from "../webhooks/guarded-request.ts";
import type { Handlers, HttpServices } from "./handler.ts";

export function createWebhookHandlers({ database, webhooks: settings }: HttpServices) {
  const { webhooks, sessions } = database;
  return {
    "GET /webhooks": async () => ({ data: (await webhooks.list()).map(viewWebhook) }),
    "POST /webhooks": async ({ body: { url, events, name, sessionId, secret }, identity }) => {
      if (sessionId !== undefined) await sessions.require(sessionId);
      if (!settings.allowPrivate) await requirePublicReceiver(url);
      const created = await webhooks.create(
        {
          url,
          events,
          ...(name !== undefined && { name }),
          ...(sessionId !== undefined && { sessionId }),
          ...(secret !== undefined && { secret }),
          by: identity.id,
        },
        settings.limits.webhooks,
      );
      return { webhook: viewWebhook(created.webhook), secret: created.secret };
    },
    "DELETE /webhooks/{webhookId}": async ({ params, identity }) => {
      await webhooks.delete(params.webhookId, identity.id);
      return undefined;
    },
    "GET /webhooks/{webhookId}/deliveries": async ({ params: { webhookId }, query: { cursor, limit } }) => {
      await webhooks.require(webhookId);
      const { rows, nextCursor } = await webhooks.deliveries(webhookId, {
        ...(cursor !== undefined && { cursor }),
        limit,
      });
      return { data: rows.map(viewDelivery), next: nextCursor ?? null };
    },
    "POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry": async ({ params }) =>
      viewDelivery(await webhooks.retry(params.webhookId, params.deliveryId)),
  } satisfies Partial<Handlers>;
}
