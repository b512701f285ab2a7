import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RpcError } from "./errors.ts";
import { LineSplitter } from "./line-splitter.ts";

const NO_LIMIT = Number.MAX_SAFE_INTEGER;
const KB = 1024;
const MB = KB * KB;

/** The lines that a splitter returns for these chunks, and whether it rejected the input. */
function split(chunks: Iterable<Buffer>, limit = NO_LIMIT): { lines: string[]; refused: boolean } {
  const lines: string[] = [];
  const splitter = new LineSplitter(limit, (line) => lines.push(line));
  try {
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return { lines, refused: false };
  } catch (error) {
    if ((error as RpcError).code !== "message_too_large") throw error;
    return { lines, refused: true };
  }
}

/** Splits bytes at the given offsets, which may be unordered and repeated. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  let start = 0;
  return ends.map((end) => {
    const chunk = bytes.subarray(start, end);
    start = end;
    return chunk;
  });
}

function* repeat(chunk: Buffer, times: number): Generator<Buffer> {
  for (let i = 0; i < times; i++) yield chunk;
}

const cuts = fc.array(fc.nat(), { maxLength: 40 });

describe("any chunking", () => {
  it("returns any messages, with either line ending", () => {
    const line = fc.record({ value: fc.json({ stringUnit: "binary" }), end: fc.constantFrom("\n", "\r\n") });
    fc.assert(
      fc.property(fc.array(line), cuts, (lines, places) => {
        const bytes = Buffer.from(lines.map(({ value, end }) => value + end).join(""));
        expect(split(cut(bytes, places)).lines).toEqual(lines.map(({ value }) => value));
      }),
    );
  });

  it("returns the same lines and the same error for any bytes, including invalid UTF-8 and lone line endings", () => {
    const anyBytes = fc
      .array(fc.oneof(fc.constantFrom(10, 13, 0x61, 0xc3, 0xa9, 0xff), fc.nat(255)), { maxLength: 80 })
      .map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(anyBytes, cuts, fc.integer({ min: 1, max: 12 }), (bytes, places, limit) => {
        expect(split(cut(bytes, places), limit)).toEqual(split([bytes], limit));
      }),
      { numRuns: 2000 },
    );
  });

  it("never splits a character, even byte by byte", () => {
    const bytes = Buffer.from('{"text":"héllo 👩‍👩‍👧 \u2028 日本"}\n');
    expect(split(cut(bytes, [...bytes.keys()])).lines).toEqual(['{"text":"héllo 👩‍👩‍👧 \u2028 日本"}']);
  });
});

describe("line endings", () => {
  it("skips empty lines, with either line ending", () => {
    expect(split([Buffer.from("\n\r\n\na\n\r\n\r\nb\n")]).lines).toEqual(["a", "b"]);
  });

  it("removes one carriage return and keeps the others", () => {
    expect(split([Buffer.from("a\r\r\n\rb\nc\rd\r\n")]).lines).toEqual(["a\r", "\rb", "c\rd"]);
  });

  it("returns the rest at the end as a line", () => {
    expect(split([Buffer.from("a\nhal"), Buffer.from("f")]).lines).toEqual(["a", "half"]);
    expect(split([Buffer.from("half\r")]).lines).toEqual(["half"]);
  });

  it("returns nothing at the end after a complete line or no input", () => {
    expect(split([Buffer.from("a\n")]).lines).toEqual(["a"]);
    expect(split([]).lines).toEqual([]);
    expect(split([Buffer.alloc(0), Buffer.alloc(0)]).lines).toEqual([]);
  });
});

describe("a long line", () => {
  it("of 16 MB may arrive in chunks of 1 KB", () => {
    // Takes minutes if each chunk is joined with the earlier ones, or if these are scanned again.
    const { lines } = split([...repeat(Buffer.alloc(KB, "x"), 16 * KB), Buffer.from("\n")]);
    expect(lines.map(({ length }) => length)).toEqual([16 * MB]);
  });

  it("of 64 KB may arrive byte by byte", () => {
    const { lines } = split([...repeat(Buffer.from("x"), 64 * KB), Buffer.from("\n")]);
    expect(lines).toEqual(["x".repeat(64 * KB)]);
  });

  it("is kept apart from other lines of the same chunk", () => {
    expect(split([Buffer.from("a\nbb"), Buffer.from("bb"), Buffer.from("b\nc\nd")]).lines).toEqual([
      "a",
      "bbbbb",
      "c",
      "d",
    ]);
  });
});

describe("the limit", () => {
  it("allows a line of exactly that many bytes, with any line ending and chunking", () => {
    for (const end of ["\n", "\r\n"]) {
      const bytes = Buffer.from(`abcd${end}`);
      expect(split([bytes], 4)).toEqual({ lines: ["abcd"], refused: false });
      expect(split(cut(bytes, [...bytes.keys()]), 4)).toEqual({ lines: ["abcd"], refused: false });
    }
  });

  it("counts bytes, not characters", () => {
    expect(split([Buffer.from("éé\n")], 4)).toEqual({ lines: ["éé"], refused: false });
    expect(split([Buffer.from("ééa\n")], 4)).toEqual({ lines: [], refused: true });
  });

  it("rejects a line before its end arrives", () => {
    const splitter = new LineSplitter(4, () => expect.unreachable());
    splitter.push(Buffer.from("abcd"));
    expect(() => splitter.push(Buffer.from("e"))).toThrow(
      expect.objectContaining({ code: "message_too_large" }),
    );
  });

  it("applies to one line, not to all lines of a chunk", () => {
    expect(split([Buffer.from("abcd\n".repeat(100))], 4).lines).toHaveLength(100);
  });

  it("delivers the lines before the one that is too long", () => {
    expect(split([Buffer.from("a\nb\nccccc\nd\n")], 4)).toEqual({ lines: ["a", "b"], refused: true });
    expect(split([Buffer.from("a\nb\nccccc")], 4)).toEqual({ lines: ["a", "b"], refused: true });
  });
});
