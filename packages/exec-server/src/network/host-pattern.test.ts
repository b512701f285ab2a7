import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostPattern } from "./host-pattern.ts";

const AS_EXPRESSION: Readonly<Record<string, string>> = { "*": ".*", "?": "." };

describe("a pattern matches", () => {
  test.each([
    ["example.com", ["example.com"], ["a.example.com", "example.org", "xexample.com"]],
    ["Example.COM.", ["example.com"], []],
    ["*.example.com", ["a.example.com", "a.b.example.com"], ["example.com", "xexample.com"]],
    ["**.example.com", ["example.com", "a.b.example.com"], ["xexample.com"]],
    ["*", ["anything.example", "127.0.0.1"], []],
    ["api-*.example.com", ["api-1.example.com", "api-a.b.example.com"], ["api.example.com"]],
    ["v?.example.com", ["v1.example.com"], ["v12.example.com"]],
    ["127.1", ["127.0.0.1"], ["127.0.0.2"]],
    ["[::1]", ["::1"], []],
    ["bücher.example", ["xn--bcher-kva.example"], []],
  ])("%s", (pattern, hosts, others) => {
    const matches = hostPattern(pattern);
    for (const host of hosts) expect([host, matches(host)]).toEqual([host, true]);
    for (const host of others) expect([host, matches(host)]).toEqual([host, false]);
  });

  test("as a regular expression would, however many stars there are", () => {
    const letters = fc.array(fc.constantFrom("a", "b", "*", "?"), { minLength: 1, maxLength: 12 });
    const host = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(letters, host, (parts, text) => {
        const pattern = parts.join("");
        const source = parts.map((part) => AS_EXPRESSION[part] ?? part).join("");
        expect(hostPattern(pattern)(text)).toBe(new RegExp(`^${source}$`).test(text));
      }),
    );
  });
});

test.each([
  "",
  " ",
  ".",
  ".example.com",
  "*.",
  "a b",
  "[a-z].example",
  "{a,b}.example",
  "!a",
  "*a/b",
  "a".repeat(300),
])("%j is refused, for it may be a denial", (pattern) => {
  expect(() => hostPattern(pattern)).toThrow(expect.objectContaining({ rpcCode: -32602 }));
});
