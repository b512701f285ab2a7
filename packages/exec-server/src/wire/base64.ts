/** Characters of the URL-safe alphabet, which Node's decoder accepts and the protocol does not. */
const FOREIGN = ["-", "_"];

/** A multiple of four, and small enough to stay in the processor's cache. */
const PIECE_CHARACTERS = 64 * 1024;

/** Base64 as received, or bytes that were decoded on arrival. */
export type Base64 = string | Buffer;

/**
 * Decodes standard padded base64. Returns undefined if it is invalid. Node's decoder skips unknown
 * characters, so an invalid character shows as a missing byte, and no second pass over the text is needed.
 */
export function decodeBase64(text: Base64): Buffer | undefined {
  if (typeof text !== "string") return text;
  const { length } = text;
  if (length % 4 !== 0) return undefined;
  if (length === 0) return Buffer.alloc(0);
  const bytes = Buffer.from(text, "base64");
  return bytes.length === decodedLength(text, length) && isStrict(text, bytes) ? bytes : undefined;
}

/**
 * Decodes base64 into the same buffer: reads are always ahead of writes, and megabytes need no additional
 * memory. The buffer must not be shared.
 */
export function decodeBase64InPlace(memory: Buffer): Buffer | undefined {
  const { length } = memory;
  if (length % 4 !== 0) return undefined;
  let written = 0;
  for (let at = 0; at < length; at += PIECE_CHARACTERS) {
    const isLast = at + PIECE_CHARACTERS >= length;
    const piece = memory.toString("latin1", at, Math.min(at + PIECE_CHARACTERS, length));
    const expected = isLast ? decodedLength(piece, piece.length) : (piece.length / 4) * 3;
    const count = memory.write(piece, written, "base64");
    if (count !== expected || !isStrict(piece, memory.subarray(written, written + count))) return undefined;
    written += count;
  }
  return memory.subarray(0, written);
}

function decodedLength(text: string, length: number): number {
  return (length / 4) * 3 - paddingOf(text);
}

function paddingOf(text: string): number {
  if (text.endsWith("==")) return 2;
  return text.endsWith("=") ? 1 : 0;
}

/** Checks the alphabet and the padding of text that was decoded to the right number of bytes. */
function isStrict(text: string, bytes: Buffer): boolean {
  if (FOREIGN.some((character) => text.includes(character))) return false;
  const padding = paddingOf(text);
  // The unused bits of the last character must be zero, so that each value has one encoding.
  return padding === 0 || bytes.toString("base64", bytes.length - (3 - padding)) === text.slice(-4);
}
