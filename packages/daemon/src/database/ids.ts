import { createHash, randomBytes } from "node:crypto";

let last = 0;

/**
 * Creates a UUID of version 7. The IDs of one process increase monotonically, even within a millisecond and if the
 * clock is set back. Lists are therefore in the order of creation, and new rows are adjacent in an index.
 */
export function newId(): string {
  const bytes = randomBytes(16);
  // Milliseconds, followed by a twelve-bit counter.
  last = Math.max(last + 1, Date.now() * 4_096);
  bytes.writeUIntBE(Math.floor(last / 4_096), 0, 6);
  bytes.writeUInt16BE(0x7000 | (last % 4_096), 6);
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Hashes a value independently of the order of object keys. */
export function fingerprint(value: unknown): string {
  const canonical = JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
  return createHash("sha256").update(canonical).digest("base64url");
}
