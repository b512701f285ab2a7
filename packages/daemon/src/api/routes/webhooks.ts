import { z } from "zod";
import { page } from "../history.ts";
import { cursor, identifier, pageLimit } from "../parameters.ts";
import type { Route } from "../route.ts";
import { createdWebhook, createWebhook, webhook, webhookDelivery } from "../webhook.ts";

const webhookParams = z.strictObject({ webhookId: identifier });

export const webhookRoutes = {
  "GET /webhooks": {
    summary: "List webhooks",
    tag: "webhooks",
    scope: "admin",
    status: 200,
    response: z.object({ data: z.array(webhook) }),
  },
  "POST /webhooks": {
    summary: "Register a URL that receives messages about sessions",
    description:
      "Messages are signed according to Standard Webhooks. Delivery is at least once: a message is sent again until the receiver responds with a status from 200 to 299.",
    tag: "webhooks",
    scope: "admin",
    body: createWebhook,
    status: 201,
    response: createdWebhook,
    problems: ["session_not_found", "session_deleted", "unprocessable", "store_full"],
  },
  "DELETE /webhooks/{webhookId}": {
    summary: "Delete a webhook and its messages",
    tag: "webhooks",
    scope: "admin",
    params: webhookParams,
    status: 204,
    problems: ["not_found"],
  },
  "GET /webhooks/{webhookId}/deliveries": {
    summary: "List the messages of a webhook, newest first",
    tag: "webhooks",
    scope: "admin",
    params: webhookParams,
    query: z.strictObject({ cursor: cursor.optional(), limit: pageLimit }),
    status: 200,
    response: page("WebhookDeliveryPage", webhookDelivery),
    problems: ["not_found", "invalid_cursor"],
  },
  "POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry": {
    summary: "Send a message again",
    description: "Also enables the webhook again if its receiver had responded with 410.",
    tag: "webhooks",
    scope: "admin",
    params: z.strictObject({ webhookId: identifier, deliveryId: identifier }),
    status: 202,
    response: webhookDelivery,
    problems: ["not_found"],
  },
} as const satisfies Record<string, Route>;
