import { z } from "zod";
import { timestamp } from "./parameters.ts";

/** URL of a webhook or a tool. */
export const webhookUrl = z.url({ protocol: /^https?$/ }).max(2048);

/** Secrets in the format of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
export const webhookSecret = z
  .string()
  .max(96)
  .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, "Expected `whsec_` and 24 to 64 bytes in base64.");

/** A tool that is called over HTTP. */
export const webhookTool = z
  .strictObject({
    name: z.string().min(1).max(64),
    description: z.string().min(1).max(16_384),
    inputSchema: z.record(z.string(), z.unknown()).meta({ description: "JSON Schema of an object." }),
    url: webhookUrl,
    secret: webhookSecret.meta({ description: "Secret with which each call is signed." }),
    timeoutMs: z
      .int()
      .positive()
      .max(600_000)
      .optional()
      .meta({ description: "Timeout of a call. Default: 60,000." }),
  })
  .meta({ id: "WebhookTool" });
export type WebhookTool = z.infer<typeof webhookTool>;

/** Body of a tool call. */
export const webhookToolCall = z
  .object({
    type: z.literal("tool.called"),
    at: timestamp,
    sessionId: z.string(),
    threadId: z.string(),
    turnId: z.string(),
    callId: z.string(),
    tool: z.string(),
    arguments: z.unknown(),
  })
  .meta({ id: "WebhookToolCall" });
export type WebhookToolCall = z.infer<typeof webhookToolCall>;

/** Response of a tool with images. Any other body is used as the text of the result. */
export const webhookToolResult = z
  .strictObject({
    content: z
      .array(
        z.union([
          z.strictObject({ type: z.literal("text"), text: z.string() }),
          z.strictObject({
            type: z.literal("image"),
            url: z.string().regex(/^data:image\/[a-z+.-]+;base64,/, "Expected a data URL of an image."),
          }),
        ]),
      )
      .max(64),
  })
  .meta({ id: "WebhookToolResult" });
