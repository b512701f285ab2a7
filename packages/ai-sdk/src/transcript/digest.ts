import { hash } from "node:crypto";

/** 128 bits: short enough for provider metadata, and safe from accidental collisions. */
const DIGEST_CHARACTERS = 22;

/**
 * Returns a digest of a value's content. Messages that were stored as JSON come back with keys in another order (JSONB) and
 * without undefined values; neither changes the digest.
 */
export function digestOf(value: unknown): string {
  return hash("sha256", canonicalJson(value), "base64url").slice(0, DIGEST_CHARACTERS);
}

/** Returns a digest of a file's content, given as bytes or as base64. */
export function digestOfBytes(data: Uint8Array | string): string {
  const bytes = typeof data === "string" ? Buffer.from(data, "base64") : data;
  return hash("sha256", bytes, "base64url").slice(0, DIGEST_CHARACTERS);
}

function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, nested: unknown) => (isPlainObject(nested) ? sortKeys(nested) : nested)) ??
    ""
  );
}

function sortKeys(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(object)
      .toSorted()
      .map((key) => [key, object[key]]),
  );
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
