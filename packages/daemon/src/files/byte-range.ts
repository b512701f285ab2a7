import { DaemonError } from "../errors.ts";

/** Byte range from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header for a file of this size. Returns undefined if the whole file must be sent: for multiple
 * ranges and other units, as RFC 9110 allows. Throws `range_not_satisfiable` if the range contains no byte of the file.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = "", last = ""] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const range =
    first === ""
      ? { start: Math.max(size - Number(last), 0), end: size }
      : { start: Number(first), end: last === "" ? size : Math.min(Number(last) + 1, size) };
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined;
  if (range.start < range.end) return range;
  throw new DaemonError(
    "range_not_satisfiable",
    `The file has ${size} bytes. The range ${header} contains none of them.`,
    { details: { size } },
  );
}
