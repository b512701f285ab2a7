import fc from "fast-check";
import { expect, it } from "vitest";
import { sniffMediaType } from "./media-type.ts";

it.each([
  ["89504e470d0a1a0a", "image/png"],
  ["ffd8ffe000104a46", "image/jpeg"],
  ["474946383961", "image/gif"],
  ["474946383761", "image/gif"],
  ["52494646ffffffff57454250", "image/webp"],
  ["52494646ffffffff57415645", "audio/wav"],
  ["49443304000000", "audio/mpeg"],
  ["fffb9064", "audio/mpeg"],
  ["52494646ffffffff41564920", undefined],
  ["25504446", undefined],
  ["", undefined],
])("%s is %s", (hex, type) => {
  expect(sniffMediaType(Buffer.from(hex, "hex"))).toBe(type);
});

it("never throws, for any bytes", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void sniffMediaType(bytes)));
});
