import type { FileHandle } from "node:fs/promises";
import { setImmediate as nextRound } from "node:timers/promises";

const NEWLINE = 10;
const CHUNK_BYTES = 256 * 1024;
/** A chunk may have hundreds of thousands of lines. Other requests are handled between these. */
const LINES_PER_ROUND = 1000;
/** What a line costs in addition to its bytes, because many short lines take longer to read than a few long ones. */
const LINE_COST = 256;

/** How much of a limit of bytes a line uses up. */
export function costOf({ offset, end }: RolloutText): number {
  return end - offset + LINE_COST;
}

export interface RolloutText {
  /** Where the line begins. */
  readonly offset: number;
  /** Behind its line break. */
  readonly end: number;
  /** Undefined for a line that is longer than the limit. */
  readonly text: string | undefined;
}

export interface LineRange {
  /** The beginning of a line. */
  readonly from: number;
  readonly to: number;
  readonly maxLineBytes: number;
}

/** The complete lines of a part of a file. One without a line break at the end is not yielded. */
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
    // Only the length of a line that is too long is needed.
    parts = length > maxLineBytes ? [] : [...parts, rest];
  }
}

/** The lines of a part of a file, last one first. Bytes behind the last line break are left out. */
export async function* readLinesBackward(
  handle: FileHandle,
  { from, to, maxLineBytes }: LineRange,
): AsyncGenerator<RolloutText> {
  /** Where the line that is being collected ends; undefined until a line break was found. */
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
