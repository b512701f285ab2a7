import { randomUUID } from "node:crypto";
import { decodeBase64InPlace } from "./base64.ts";

/** Members whose value may be megabytes of base64. */
const KEYS = ["dataBase64", "chunk", "bodyBase64", "deltaBase64"];

/** A message below this is parsed as it is: looking for the member would cost more than it saves. */
const WORTHWHILE_BYTES = 64 * 1024;

/** The member stands behind a handful of short ones. */
const SEARCHED_BYTES = 16 * 1024;

const NOT_BASE64 = "!";

/** Stands for the lifted value. It is random, so that no client can send it. */
const TOKEN = randomUUID();

export interface Lifted {
  /** The message with a short token in place of the base64. */
  readonly text: string;
  /** Puts the bytes where the token is found; false when it stood elsewhere than in these members. */
  restore(members: unknown): boolean;
}

/**
 * Takes the base64 out of a large message before JSON.parse reads it: the parser goes through a string character by
 * character, and copies it. The bytes are decoded where they lie. Undefined when there is nothing to lift.
 */
export function liftBase64(bytes: Buffer): Lifted | undefined {
  if (bytes.length < WORTHWHILE_BYTES) return undefined;
  const head = bytes.toString("latin1", 0, SEARCHED_BYTES);
  for (const key of KEYS) {
    const opening = `"${key}":"`;
    const at = head.indexOf(opening);
    // Behind a backslash it is the inside of a longer string.
    if (at === -1 || head[at - 1] === "\\") continue;
    const start = at + opening.length;
    const end = bytes.indexOf('"', start, "latin1");
    if (end - start < WORTHWHILE_BYTES / 2) continue;
    if (bytes.subarray(start, end).includes("\\")) return undefined;
    const text = `${bytes.toString("utf8", 0, start)}${TOKEN}${bytes.toString("utf8", end)}`;
    return { text, restore: (members) => putBack(members, key, bytes.subarray(start, end)) };
  }
  return undefined;
}

function putBack(members: unknown, key: string, base64: Buffer): boolean {
  if (typeof members !== "object" || members === null) return false;
  const record = members as Record<string, unknown>;
  if (record[key] !== TOKEN) return false;
  // Invalid base64 stays text and is refused when it is decoded.
  record[key] = decodeBase64InPlace(base64) ?? NOT_BASE64;
  return true;
}
