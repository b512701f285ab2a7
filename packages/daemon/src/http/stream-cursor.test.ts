import fc from "fast-check";
import { expect, test } from "vitest";
import { formatCursor, parseCursor, parseWatch } from "./stream-cursor.ts";

test("reads back every cursor", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.dictionary(fc.uuid(), fc.nat()), (sessions, inbox, watched) => {
      expect(parseCursor(formatCursor({ sessions, inbox, watched }))).toEqual({
        sessions,
        inbox,
        watched: { ...watched },
      });
    }),
  );
});

test("rejects what is not a cursor", () => {
  expect(parseCursor(undefined)).toBeUndefined();
  for (const text of [
    "12",
    "%",
    Buffer.from("[1,2]").toString("base64url"),
    Buffer.from("{}").toString("base64url"),
  ]) {
    expect(() => parseCursor(text)).toThrow(expect.objectContaining({ code: "invalid_cursor" }));
  }
});

test("reads watched sessions with and without a position", () => {
  expect(parseWatch("a,b:12", 2)).toEqual(
    new Map([
      ["a", undefined],
      ["b", 12],
    ]),
  );
  expect(parseWatch(undefined, 2).size).toBe(0);
  for (const text of ["a,b,c", "a:x", ",", ":1", "a b"]) {
    expect(() => parseWatch(text, 2)).toThrow(expect.objectContaining({ code: "bad_request" }));
  }
});
