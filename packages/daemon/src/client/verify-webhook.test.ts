import { describe, expect, test } from "vitest";
import { newWebhookSecret, signedHeaders } from "../webhook-store/signature.ts";
import { verifyWebhook, WebhookVerificationError } from "./verify-webhook.ts";

const secret = newWebhookSecret();
const body = JSON.stringify({ type: "turn.ended", text: "grüße" });

function signed(at = Date.now()): Record<string, string> {
  return signedHeaders(secret, { id: "message", at, body });
}

describe("a message", () => {
  test("with the right signature is returned", async () => {
    expect(await verifyWebhook(secret, { headers: signed(), body })).toEqual({
      type: "turn.ended",
      text: "grüße",
      id: "message",
    });
    const headers = new Headers(signed());
    expect(await verifyWebhook(secret, { headers, body })).toMatchObject({ id: "message" });
  });

  test("can have several signatures, so that the secret can be changed", async () => {
    const headers = signed();
    headers["webhook-signature"] = `v1,AAAA v2,x ${headers["webhook-signature"]}`;
    expect(await verifyWebhook(secret, { headers, body })).toMatchObject({ id: "message" });
  });

  const changed: Record<string, [Record<string, string>, string, string?]> = {
    "another body": [signed(), body.replace("grüße", "grüsse")],
    "another ID": [{ ...signed(), "webhook-id": "other" }, body],
    "another time": [{ ...signed(), "webhook-timestamp": String(Math.floor(Date.now() / 1000) - 2) }, body],
    "another secret": [signed(), body, newWebhookSecret()],
    "no signature": [{ ...signed(), "webhook-signature": "" }, body],
    "a signature that is not base64": [{ ...signed(), "webhook-signature": "v1,%" }, body],
    "an old time": [signed(Date.now() - 301_000), body],
    "a time in the future": [signed(Date.now() + 600_000), body],
    "a time that is no number": [{ ...signed(), "webhook-timestamp": "now" }, body],
  };
  test.each(Object.entries(changed))("with %s is refused", async (_, [headers, text, key = secret]) => {
    const verified = verifyWebhook(key, { headers, body: text });
    await expect(verified).rejects.toSatisfy((error: unknown) => WebhookVerificationError.is(error));
  });
});
