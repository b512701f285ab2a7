import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allStrings, Redactor, secretValues } from "./redact.ts";

describe("redacting", () => {
  test("removes known secrets from texts, also as a part of JSON inside JSON", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8, unit: "grapheme" }), fc.string(), fc.string(), (secret, a, b) => {
        fc.pre(![a, b, "[redacted]"].some((text) => text.includes(secret) || secret.includes("redacted")));
        const redactor = new Redactor([secret]);
        const nested = JSON.stringify({ output: secret });
        expect(redactor.text(`${a} ${secret} ${b}`)).not.toContain(secret);
        expect(redactor.text(nested)).not.toContain(JSON.stringify(secret).slice(1, -1));
      }),
    );
  });

  test.each([
    "OPENAI_API_KEY=sk-proj-abcdefgh12345678",
    "key sk-abcdefgh12345678 is wrong",
    "Authorization: Bearer abcdefgh12345678",
    '{\\"password\\":\\"abcdefgh12345678\\"}',
    "postgres://user:abcdefgh12345678@host/db",
    "--token abcdefgh ghp_abcdefgh12345678",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefgh12345678",
    "ckd_abcdefgh12345678",
    "whsec_abcdefgh12345678",
    "AKIAABCDEFGH12345678",
    "sk_live_abcdefgh12345678",
    `AIzaSyA-abcdefgh12345678${"x".repeat(20)}`,
    "DB_PW=abcdefgh12345678",
    "SMTP_PASS: abcdefgh12345678",
    "client_secret: abcdefgh12345678",
    "-----BEGIN PRIVATE KEY-----\nabcdefgh12345678\n-----END PRIVATE KEY-----",
  ])("recognises a secret by its form: %s", (text) => {
    const clean = new Redactor([]).text(text);
    expect(clean).toContain("[redacted]");
    expect(clean).not.toMatch(/abcdefgh12345678|ABCDEFGH12345678/);
  });

  test("keeps what is not secret", () => {
    const texts = [
      "used 1200 tokens: 30 left",
      "the token is missing",
      "https://example.com:8080/path?page=2",
      "secret santa",
      '{"totalTokens":12,"key":"fix-1","token":null}',
    ];
    for (const text of texts) expect(new Redactor(["short"]).text(text)).toBe(text);
    expect(new Redactor([]).value({ key: "fix-1", token: "x", list: ["plain"], count: 3 })).toEqual({
      key: "fix-1",
      token: "[redacted]",
      list: ["plain"],
      count: 3,
    });
  });

  test("shows only the values of harmless variables", () => {
    const env = { PATH: "/bin", MY_API_KEY: "value-of-key", INTERNAL: "value-of-internal", UNSET: undefined };
    expect(new Redactor([]).environment(env)).toEqual({
      PATH: "/bin",
      MY_API_KEY: "[redacted]",
      INTERNAL: "[redacted]",
    });
    expect(secretValues(env)).toEqual(["value-of-key"]);
    const passwords = {
      DB_PW: "one",
      SMTP_PASS: "two",
      PGPASS: "three",
      DB_PWD: "four",
      KEY_PASSPHRASE: "five",
    };
    expect(secretValues({ ...passwords, PWD: "/work", OLDPWD: "/home" })).toEqual(Object.values(passwords));
    expect(allStrings({ a: "x", b: { c: ["y", 1] } })).toEqual(["x", "y"]);
  });
});
