import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** A new secret, as Standard Webhooks writes them. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString("base64");
}

/** Headers of a message as Standard Webhooks defines them, so that receivers can use its libraries. */
export function signedHeaders(
  secret: string,
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
