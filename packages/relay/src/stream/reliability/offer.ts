import { z } from "zod";

/**
 * Member that the first message of each end carries: the harness's is an offer, the executor's accepts it. It is inside
 * the encrypted stream, so that a rendezvous can't add or remove it, and Codex's ends ignore unknown members.
 */
const MEMBER = "codexkitRelay";
const PREFIX = Buffer.from(`{"${MEMBER}":`);
const SEPARATOR = Buffer.from(",");
const OBJECT_START = Buffer.from('{"');

const offerSchema = z.object({ version: z.number().int().min(1) });

const OFFER = Buffer.concat([PREFIX, Buffer.from('{"version":1}'), SEPARATOR]);

/** Adds the offer to a message. Undefined if the message is not a JSON object with members. */
export function addOffer(message: string | Uint8Array): Buffer | undefined {
  const bytes = typeof message === "string" ? Buffer.from(message) : Buffer.from(message);
  if (!bytes.subarray(0, 2).equals(OBJECT_START)) return undefined;
  return Buffer.concat([OFFER, bytes.subarray(1)]);
}

/** Removes the offer from a message. `hasOffer` is false for every message that has none, or one of no known version. */
export function takeOffer(message: Buffer): { readonly hasOffer: boolean; readonly message: Buffer } {
  const none = { hasOffer: false, message };
  if (!message.subarray(0, PREFIX.length).equals(PREFIX)) return none;
  // The offer itself has no nested objects.
  const end = message.indexOf("}") + 1;
  if (end === 0 || message[end] !== SEPARATOR[0]) return none;
  let offer: unknown;
  try {
    offer = JSON.parse(message.toString("utf8", PREFIX.length, end));
  } catch {
    return none;
  }
  if (!offerSchema.safeParse(offer).success) return none;
  return { hasOffer: true, message: Buffer.concat([OBJECT_START.subarray(0, 1), message.subarray(end + 1)]) };
}
