import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allStrings, findSecrets, Redactor, secretValues } from "./redact.ts";

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

  test.each([
    ["a-", "schemes without an end"],
    ["eyJ-", "JWTs without a dot"],
    ["eyJabcdefgh.", "JWTs with short parts"],
    ["eyJabcdefgh.eyJ", "JWTs in JWTs"],
    ["://", "URLs without a user"],
    ["a://b:", "URLs without an end"],
    ["a:", "words with colons"],
    ["sk-", "keys"],
    ["Bearer ", "authorizations"],
    ["token\\", "fields with escapes"],
    ["token ", "fields without a value"],
    ["token=", "fields in fields"],
    ["-----BEGIN ", "beginnings of private keys"],
    ["-----BEGIN PRIVATE KEY----- -----END ", "private keys without an end"],
    ["PRIVATE KEY ", "names of private keys"],
    [" ", "spaces"],
    ["\\", "backslashes"],
    ["=", "equals signs"],
  ])("takes linear time for many repetitions of %j: %s", (piece) => {
    const redactor = new Redactor([]);
    for (const start of ["", "a://", "a://b:", "eyJ", "token", "token=", "Bearer", "-----BEGIN "]) {
      redactor.text(start + piece.repeat(1_000_000 / piece.length));
    }
  });

  test("finds URLs and JWTs that simple patterns find", () => {
    const pieces = ["://", "a", "Z", "a-1", " ", ":", "@", "/", '"', ".", "eyJ", "abcdefgh", "-", "_", "é"];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((list) => list.join(""));
    fc.assert(
      fc.property(text, (value) => {
        const clean = new Redactor([]).text(value);
        for (const [match] of value.matchAll(/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+)?/g)) {
          expect(clean).not.toContain(match);
        }
        for (const [match] of value.matchAll(/\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"]*:[^\s/@"]+@/gi)) {
          expect(clean).not.toContain(match);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("returns the parts of a text that look like secrets", () => {
    const text = "--db postgres://app:pass-of-url@host/db -H 'X-Api-Key: value-of-key' ghp_abcdefgh12345678";
    expect(findSecrets(text)).toEqual(["pass-of-url", "value-of-key", "ghp_abcdefgh12345678"]);
    expect(findSecrets("nothing here")).toEqual([]);
  });

  test("cuts long texts without exposing the beginning of a secret at the cut", () => {
    const secret = "known-secret-of-the-setup";
    const redactor = new Redactor([secret]);
    for (let before = 0; before < 200; before += 1) {
      for (const text of [secret, "postgres://user:abcdefgh12345678@host", "ghp_abcdefgh12345678"]) {
        const cut = redactor.value({ text: "-".repeat(before) + text + "-".repeat(5000) }, 100) as {
          text: string;
        };
        expect(cut.text.length).toBeLessThan(140);
        expect(cut.text).not.toMatch(/known-s|abcdefgh/);
      }
    }
    expect(redactor.value({ text: "x".repeat(100) }, 100)).toEqual({ text: "x".repeat(100) });
    expect(redactor.value({ text: "x".repeat(9000) }, 100)).toEqual({
      text: `${"x".repeat(100)}… (9000 characters)`,
    });
    // Redacted texts are shorter. The beginning of the next secret must not move in front of the cut.
    const many = redactor.value(`${secret} `.repeat(1000), 100) as string;
    expect(many.replaceAll("[redacted]", "")).not.toMatch(/[a-bd-z]n/);
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
