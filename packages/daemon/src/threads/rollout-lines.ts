import type { FileHandle } from "node:fs/promises";
import { setImmediate as nextRound } from "node:timers/promises";

const NEWLINE = 10;
const CHUNK_BYTES = 256 * 1024;
/** A chunk may have hundreds of thousands of lines. After this many lines, other requests are handled. */
const LINES_PER_ROUND = 1000;
/** Cost of a line in addition to its bytes, because many short lines take longer to read than a few long lines. */
const LINE_COST = 256;

/** Returns how much of a byte limit a line uses. */
export function costOf({ offset, end }: RolloutText): number {
  return end - offset + LINE_COST;
}

export interface RolloutText {
  /** Offset at which the line starts. */
  readonly offset: number;
  /** Offset after its line break. */
  readonly end: number;
  /** Undefined if the line is longer than the limit. */
  readonly text: string | undefined;
}

export interface LineRange {
  /** Offset at which a line starts. */
  readonly from: number;
  readonly to: number;
  readonly maxLineBytes: number;
}

/** Yields the complete lines in a part of a file. A final line without a line break is not yielded. */
export async function* readLines(
  handle: FileHandle,
  { from, to, maxLineBytes }: LineRange,
): AsyncGenerator<RolloutText> {
  let offset = from;
  let parts: Buffer[] = [];
  let length = 0;
  let count = 0;
  for (let position = from; position < to;) {
    const chunk = await readChunk(handle, position, Math.min(CHUNK_BYTES, to - position));
    if (chunk.length === 0) return;
    position += chunk.length;
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, at);
      const bytes = length + rest.length;
      const text = bytes > maxLineBytes ? undefined : Buffer.concat([...parts, rest]).toString();
      yield { offset, end: offset + bytes + 1, text };
      count += 1;
      if (count % LINES_PER_ROUND === 0) await nextRound();
      offset += bytes + 1;
      parts = [];
      length = 0;
      start = at + 1;
    }
    const rest = chunk.subarray(start);
    length += rest.length;
    // For a line that is too long, only the length is needed.
    parts = length > maxLineBytes ? [] : [...parts, rest];
  }
}

/** Yields the lines in a part of a file in reverse order. Bytes after the last line break are skipped. */
export async function* readLinesBackward(
  handle: FileHandle,
  { from, to, maxLineBytes }: LineRange,
): AsyncGenerator<RolloutText> {
  /** Offset at which the current line ends. Undefined until a line break has been found. */
  let end: number | undefined;
  let carry: Buffer = Buffer.alloc(0);
  let length = 0;
  let count = 0;
  for (let position = to; position > from;) {
    const size = Math.min(CHUNK_BYTES, position - from);
    position -= size;
    const chunk = await readChunk(handle, position, size);
    let stop = chunk.length;
    for (
      let at = chunk.lastIndexOf(NEWLINE);
      at >= 0;
      at = stop > 0 ? chunk.lastIndexOf(NEWLINE, stop - 1) : -1
    ) {
      const rest = chunk.subarray(at + 1, stop);
      if (end !== undefined) yield toText(position + at + 1, end, rest, carry, length, maxLineBytes);
      count += 1;
      if (count % LINES_PER_ROUND === 0) await nextRound();
      end = position + at + 1;
      carry = Buffer.alloc(0);
      length = 0;
      stop = at;
    }
    const rest = chunk.subarray(0, stop);
    length += rest.length;
    if (end !== undefined) carry = length > maxLineBytes ? Buffer.alloc(0) : Buffer.concat([rest, carry]);
  }
  if (end !== undefined) yield toText(from, end, Buffer.alloc(0), carry, length, maxLineBytes);
}

function toText(
  offset: number,
  end: number,
  rest: Buffer,
  carry: Buffer,
  length: number,
  maxLineBytes: number,
): RolloutText {
  const isTooLong = length + rest.length > maxLineBytes;
  return { offset, end, text: isTooLong ? undefined : Buffer.concat([rest, carry]).toString() };
}

async function readChunk(handle: FileHandle, position: number, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await handle.read(buffer, filled, size - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
