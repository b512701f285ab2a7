/** Characters of the URL alphabet, which Node's decoder takes and the protocol does not. */
const FOREIGN = ["-", "_"];

/** A multiple of four, and small enough to stay in the processor's cache. */
const PIECE_CHARACTERS = 64 * 1024;

/** Base64 as it came, or bytes that were decoded on the way in. */
export type Base64 = string | Buffer;

/**
 * Decodes standard padded base64, or gives undefined. Node's decoder passes over what it does not know, so that a wrong
 * character shows as a missing byte: no second pass over the text is needed.
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
 * Decodes base64 that lies in a buffer, into that same buffer: what is read is always ahead of what is written, and
 * megabytes need no memory but their own. The buffer must not be shared.
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

/** Whether the right number of bytes also came from the right characters. */
function isStrict(text: string, bytes: Buffer): boolean {
  if (FOREIGN.some((character) => text.includes(character))) return false;
  const padding = paddingOf(text);
  // The unused bits of the last character must be zero: one encoding for each value.
  return padding === 0 || bytes.toString("base64", bytes.length - (3 - padding)) === text.slice(-4);
}
