import { z } from "zod";
import { sessionEvent } from "./history.ts";
import { approval } from "./inbox.ts";
import { plainText, timestamp } from "./parameters.ts";
import { session } from "./session.ts";
import { webhookSecret, webhookUrl } from "./webhook-tool.ts";

export const webhookEventType = z.enum(["approval.opened", "turn.ended", "session.failed"]).meta({
  id: "WebhookEventType",
  description:
    "approval.opened: an approval or question needs an answer. turn.ended: a turn completed, failed or was interrupted. session.failed: the thread can't be started or resumed.",
});
export type WebhookEventType = z.infer<typeof webhookEventType>;

export const createWebhook = z
  .strictObject({
    url: webhookUrl,
    events: z.array(webhookEventType).min(1).max(webhookEventType.options.length),
    name: plainText(128).optional(),
    /** Default: all sessions. */
    sessionId: z.string().min(1).max(256).optional(),
    secret: webhookSecret.optional().meta({ description: "Default: a generated secret." }),
  })
  .meta({ id: "CreateWebhook" });

export const webhook = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(webhookEventType),
    name: z.string().nullable(),
    sessionId: z.string().nullable(),
    createdBy: z.string(),
    createdAt: timestamp,
    disabledAt: timestamp.nullable().meta({ description: "When the receiver responded with 410, or null." }),
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof webhook>;

export const createdWebhook = z
  .object({
    webhook,
    secret: z
      .string()
      .meta({ description: "Secret with which each delivery is signed. Only returned here." }),
  })
  .meta({ id: "CreatedWebhook" });

export const webhookDelivery = z
  .object({
    id: z.string().meta({ description: "The same for every attempt. Sent as the header `webhook-id`." }),
    webhookId: z.string(),
    sessionId: z.string(),
    type: webhookEventType,
    state: z.enum(["pending", "delivered", "failed"]),
    attempts: z.int(),
    nextAt: timestamp.nullable().meta({ description: "When the next attempt is due, or null." }),
    status: z.int().nullable().meta({ description: "HTTP status of the last attempt, or null." }),
    error: z.string().nullable(),
    createdAt: timestamp,
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof webhookDelivery>;

/** Body of a delivery. */
export const webhookMessage = z
  .object({
    type: webhookEventType,
    at: timestamp,
    session,
    event: sessionEvent.optional().meta({
      description: "Sequence number of the event that caused the message, such as the end of a turn.",
    }),
    approval: approval
      .optional()
      .meta({ description: "The request, in its state when the message is sent." }),
  })
  .meta({ id: "WebhookMessage" });
export type WebhookMessage = z.infer<typeof webhookMessage>;
