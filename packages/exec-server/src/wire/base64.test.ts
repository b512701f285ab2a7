import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBase64, decodeBase64InPlace } from "./base64.ts";

const inPlace = (text: string) => decodeBase64InPlace(Buffer.from(text, "latin1"));

test("what was encoded is decoded, also where it lies", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const text = Buffer.from(bytes).toString("base64");
      expect(decodeBase64(text)).toEqual(Buffer.from(bytes));
      expect(inPlace(text)).toEqual(Buffer.from(bytes));
    }),
  );
  const large = Buffer.alloc(300_001, "0123456789");
  expect(inPlace(large.toString("base64"))?.equals(large)).toBe(true);
});

test.each(["!", "eA=", "eA", "QR==", "e-A=", "e_A=", "eA==\n", "=eA=", "====", "eA==eA==", "é==="])(
  "%j is refused",
  (text) => {
    expect(decodeBase64(text)).toBeUndefined();
    expect(inPlace(text)).toBeUndefined();
  },
);

test("one wrong character among thousands is found, wherever it is", () => {
  const good = Buffer.alloc(150_000, 7).toString("base64");
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: good.length - 1 }),
      fc.constantFrom("-", "_", " ", "!", "="),
      (at, wrong) => {
        const bad = good.slice(0, at) + wrong + good.slice(at + 1);
        if (bad === good) return;
        // Padding at the very end changes the value, not the validity.
        if (wrong === "=" && at === good.length - 1) return;
        expect(decodeBase64(bad)).toBeUndefined();
        expect(inPlace(bad)).toBeUndefined();
      },
    ),
    { numRuns: 60 },
  );
});
