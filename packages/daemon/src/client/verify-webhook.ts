import type { WebhookMessage } from "../api/webhook.ts";
import type { WebhookToolCall } from "../api/webhook-tool.ts";

/** The same symbol in every copy of this package in a program. */
const BRAND = Symbol.for("@codexkit/daemon/WebhookVerificationError");

/** The request is too old, or was not sent by the daemon. Respond with a status from 400 to 499. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";

  /** Whether a value is a `WebhookVerificationError`, including one from another copy of this package. */
  static is(value: unknown): value is WebhookVerificationError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}

export interface ReceivedWebhook {
  /** Headers of the request: from the fetch API, or from Node's `IncomingMessage`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body, exactly as it was received. */
  readonly body: string;
}

export interface VerifyWebhookOptions {
  /** Maximum age of a message, in milliseconds. Default: 300,000. */
  readonly toleranceMs?: number;
}

/**
 * A verified message of a webhook, or a verified call of a tool. A repetition has the same `id`: ignore messages that you have
 * already handled.
 */
export type VerifiedWebhook = (WebhookMessage | WebhookToolCall) & { readonly id: string };

/**
 * Verifies the signature and the age of a message, and returns it. Rejects with a {@link WebhookVerificationError}.
 *
 * @param secret The secret of the webhook or tool.
 */
export async function verifyWebhook(
  secret: string,
  { headers, body }: ReceivedWebhook,
  { toleranceMs = 300_000 }: VerifyWebhookOptions = {},
): Promise<VerifiedWebhook> {
  const header = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== "string" || value === "") {
      throw new WebhookVerificationError(`The request does not have the header ${name}.`);
    }
    return value;
  };
  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp");
  const ageMs = Math.abs(Date.now() - Number(timestamp) * 1000);
  // Written so that a timestamp that is not a number is rejected, too.
  if (!(ageMs <= toleranceMs)) {
    throw new WebhookVerificationError(
      `The message's timestamp, ${timestamp}, is not within ${toleranceMs} ms of the current time. The message may be replayed, or the clocks may differ.`,
    );
  }
  const key = await crypto.subtle.importKey(
    "raw",
    decodeBase64(secret.replace(/^whsec_/, "")),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const entry of header("webhook-signature").split(" ")) {
    const signature = entry.startsWith("v1,") ? decodeBase64(entry.slice(3)) : undefined;
    if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) {
      return { ...(JSON.parse(body) as WebhookMessage | WebhookToolCall), id };
    }
  }
  throw new WebhookVerificationError("The signature does not match the secret.");
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new WebhookVerificationError("The secret or the signature is not base64.");
  }
}
