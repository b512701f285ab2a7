import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalHost, readAuthority } from "./host-name.ts";

describe("a host is written in one way", () => {
  test.each([
    ["Example.COM", "example.com"],
    ["example.com.", "example.com"],
    ["example.com...", "example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["127.1", "127.0.0.1"],
    ["0x7f000001", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
    ["0177.0.0.1", "127.0.0.1"],
    ["::1", "::1"],
    ["[0:0:0:0:0:0:0:1]", "::1"],
    ["::ffff:127.0.0.1", "::ffff:7f00:1"],
    ["a_b.example", "a_b.example"],
  ])("%s is %s", (text, host) => {
    expect(canonicalHost(text)).toBe(host);
  });

  test.each([
    "",
    ".",
    "a b",
    "a\tb",
    "a/b",
    "a?b",
    "a#b",
    "user@host",
    "a\\b",
    "a%2eb",
    "fe80::1%eth0",
    "host:80",
    "[::1",
    "::1]",
    "1.2.3.4.5",
    "256.256.256.256",
    "a\0b",
    "x".repeat(254),
    "<>",
  ])("%j is none", (text) => {
    expect(canonicalHost(text)).toBeUndefined();
  });

  test("what is canonical stays as it is", () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
        const host = canonicalHost(text);
        fc.pre(host !== undefined);
        expect(canonicalHost(host)).toBe(host);
      }),
    );
  });
});

test("an authority has a host and a port", () => {
  expect(readAuthority("a.example:443")).toEqual({ host: "a.example", port: 443 });
  expect(readAuthority("[::1]:80")).toEqual({ host: "::1", port: 80 });
  expect(readAuthority("a.example", 80)).toEqual({ host: "a.example", port: 80 });
  for (const bad of ["a.example", "a:0", "a:65536", "a:", "::1:80", "a:1:2", "u@a:1", ":80", "a:-1", "a:1 "])
    expect(readAuthority(bad)).toBeUndefined();
});
