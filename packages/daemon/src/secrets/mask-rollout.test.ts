import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskRollout } from "./mask-rollout.ts";

const mask = (text: string, secrets: readonly string[], calls: Parameters<typeof maskRollout>[2] = []) =>
  Buffer.from(maskRollout(Buffer.from(text), secrets, calls)).toString();

describe("masking a rollout", () => {
  test("masks a secret next to a string of 16 MB, also if that consists of escape sequences", () => {
    for (const long of ["a".repeat(16_000_000), "\\".repeat(8_000_000), '"'.repeat(8_000_000)]) {
      const line = JSON.stringify({ content: `secret-value ${long} secret-value` });
      expect(mask(`${line}\n`, ["secret-value"])).toBe(
        `${line.replaceAll("secret-value", "*".repeat(12))}\n`,
      );
    }
  });

  test("masks a secret of 1 MB", () => {
    const secret = "ab".repeat(500_000);
    expect(mask(JSON.stringify([secret, 1]), [secret])).toBe(JSON.stringify(["*".repeat(1_000_000), 1]));
  });

  test("keeps valid JSON of the same length, without the secret at any of three levels", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 4, unit: "grapheme" }),
        fc.array(fc.string({ unit: fc.constantFrom("\\", '"', "n", "a", "\n", "é") })),
        (secret, texts) => {
          fc.pre(!secret.includes("*"));
          const nested = JSON.stringify({ inner: secret, texts });
          const value = { texts: [...texts, `x${secret}y`], nested, deep: JSON.stringify([nested]) };
          const line = JSON.stringify(value);
          const masked = mask(`${line}\n`, [secret]);
          expect(Buffer.byteLength(masked)).toBe(Buffer.byteLength(line) + 1);
          const read = JSON.parse(masked) as typeof value;
          expect(read.texts.at(-1)).not.toContain(secret);
          expect((JSON.parse(read.nested) as { inner: string }).inner).not.toContain(secret);
        },
      ),
    );
  });

  test("masks both of two secrets that overlap", () => {
    expect(mask('{"a":"one-two-three","b":11111}', ["one-two", "two-three"])).toBe(
      '{"a":"*************","b":11111}',
    );
  });

  test("masks numbers only in strings, and short answers only as complete strings of the call's lines", () => {
    const lines = `${JSON.stringify({ id: "call", out: JSON.stringify(["4711", "47110"]), n: 4711 })}\n${JSON.stringify(["4711"])}\n`;
    expect(mask(lines, [], [{ callId: "call", secrets: ["4711"] }])).toBe(
      lines.replace('\\"4711\\"', '\\"****\\"'),
    );
  });
});
