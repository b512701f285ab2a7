import { randomUUID } from "node:crypto";
import { decodeBase64InPlace } from "./base64.ts";

/** Members whose value may contain megabytes of base64. */
const KEYS = ["dataBase64", "chunk", "bodyBase64", "deltaBase64"];

/** Smaller messages are parsed normally, because looking for the member would cost more than it saves. */
const WORTHWHILE_BYTES = 64 * 1024;

/** Only the beginning of a message is searched: only short members precede the base64. */
const SEARCHED_BYTES = 16 * 1024;

const NOT_BASE64 = "!";

/** Replaces the extracted value. Random, so that no client can send it. */
const TOKEN = randomUUID();

export interface Lifted {
  /** The message with a short token in place of the base64. */
  readonly text: string;
  /** Puts the bytes in place of the token. Returns false if the token is not the value of the member. */
  restore(members: unknown): boolean;
}

/**
 * Extracts the base64 from a large message before JSON.parse reads it, because the parser processes strings
 * character by character and copies them. The bytes are decoded in place. Undefined if there is nothing to
 * extract.
 */
export function liftBase64(bytes: Buffer): Lifted | undefined {
  if (bytes.length < WORTHWHILE_BYTES) return undefined;
  const head = bytes.toString("latin1", 0, SEARCHED_BYTES);
  for (const key of KEYS) {
    const opening = `"${key}":"`;
    const at = head.indexOf(opening);
    // After a backslash, it is inside a longer string.
    if (at === -1 || head[at - 1] === "\\") continue;
    const start = at + opening.length;
    const end = bytes.indexOf('"', start, "latin1");
    if (end - start < WORTHWHILE_BYTES / 2) continue;
    if (bytes.subarray(start, end).includes("\\")) return undefined;
    const text = `${bytes.toString("utf8", 0, start)}${TOKEN}${bytes.toString("utf8", end)}`;
    return { text, restore: (members) => restoreBase64(members, key, bytes.subarray(start, end)) };
  }
  return undefined;
}

function restoreBase64(members: unknown, key: string, base64: Buffer): boolean {
  if (typeof members !== "object" || members === null) return false;
  const record = members as Record<string, unknown>;
  if (record[key] !== TOKEN) return false;
  // Invalid base64 stays text and is refused when it is decoded.
  record[key] = decodeBase64InPlace(base64) ?? NOT_BASE64;
  return true;
}
