import { describe, expect, it } from "vitest";
import { definePolicy } from "../policy/define-policy.ts";
import { evaluatePolicy } from "../policy/evaluate-policy.ts";
import { readEndpoint } from "./endpoint.ts";
import { compileHostPattern } from "./endpoint.ts";
import { rangeOf } from "./endpoint.ts";

const hostOf = (text: string): string | undefined => readEndpoint(text)?.host;

describe("a host", () => {
  it.each([
    ["https://Example.COM./x", "example.com"],
    ["http://user:secret@example.com:81/x", "example.com"],
    ["git@github.com:owner/repo.git", "github.com"],
    ["localhost:3000", "localhost"],
    ["localhost:x@evil.example", "evil.example"],
    ["http://localhost:80@evil.example/", "evil.example"],
    ["http://a@b@evil.example/", undefined],
    ["http://evil.example\\@localhost/", undefined],
    ["http://localhost%00.evil.example/", undefined],
    ["http://１２７.0.0.1/", undefined],
    ["http://evil.example?@localhost/", "evil.example"],
    ["http://evil.example#@localhost/", "evil.example"],
    ["0x7f.1", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
    ["017700000001", "127.0.0.1"],
    ["http://0251.0376.0251.0376/", "169.254.169.254"],
    ["1.2.3.4.5", undefined],
    ["300.1.1.1", undefined],
    ["http://[::1]:80/", "::1"],
    ["http://[0:0:0:0:0:0:0:1]/", "::1"],
    ["http://[::ffff:169.254.169.254]/", "169.254.169.254"],
    ["http://[::ffff:a9fe:a9fe]/", "169.254.169.254"],
    ["http://[::a9fe:a9fe]/", "169.254.169.254"],
    ["http://[64:ff9b::a9fe:a9fe]/", "169.254.169.254"],
    ["http://[2002:a9fe:a9fe::]/", "169.254.169.254"],
    ["http://[fd00:0ec2:0::254]/", "fd00:ec2::254"],
    ["http://[fe80::1%25eth0]/", undefined],
    ["http:///x", undefined],
    ["https://user@:pass@evil.example/", undefined],
  ])("in %s is %s", (text, host) => {
    expect(hostOf(text)).toBe(host);
  });

  it.each([
    ["127.9.9.9", "loopback"],
    ["::1", "loopback"],
    ["a.localhost", "loopback"],
    ["169.254.169.254", "metadata"],
    ["fd00:ec2::254", "metadata"],
    ["10.1.2.3", "private"],
    ["fe80::1", "private"],
    ["printer", "private"],
    ["example.com", "public"],
  ])("%s is %s", (host, range) => {
    expect(rangeOf(host)).toBe(range);
  });

  it("matches patterns in any notation", () => {
    const matches = (pattern: string, text: string): boolean => {
      const endpoint = readEndpoint(text);
      return endpoint !== undefined && compileHostPattern(pattern)(endpoint);
    };
    expect(matches("127.0.0.1", "http://0x7f000001/")).toBe(true);
    expect(matches("[::1]:80", "http://[0::1]/")).toBe(true);
    expect(matches("*.example.com", "https://a.example.com")).toBe(true);
    expect(matches("*.example.com", "https://example.com")).toBe(false);
    expect(matches("example.com:443", "https://example.com")).toBe(true);
    expect(matches("example.com:443", "http://example.com")).toBe(false);
  });

  it("of the metadata service is refused in any notation", () => {
    const policy = definePolicy({ preset: "danger-full-access" });
    for (const host of ["169.254.169.254", "0xa9fea9fe", "[::ffff:a9fe:a9fe]", "metadata.google.internal."])
      expect(evaluatePolicy(policy, { kind: "network", host })).toMatchObject({ decision: "deny" });
  });
});

describe("an unknown port", () => {
  const decide = (command: string, network: { allow?: string[]; deny?: string[] }): string =>
    evaluatePolicy(definePolicy({ preset: "danger-full-access", workspace: "/w", network }), {
      kind: "command",
      command,
      cwd: "/w",
    }).decision;

  it("may be the denied one", () => {
    expect(decide("nc -z evil.example 443", { deny: ["evil.example:443"] })).toBe("deny");
    expect(decide("nc -z other.example 443", { deny: ["evil.example:443"] })).toBe("allow");
    expect(decide("curl https://evil.example:8443/", { deny: ["evil.example:443"] })).toBe("allow");
  });

  it("may not be the allowed one", () => {
    const pattern = compileHostPattern("example.com:443");
    expect(pattern({ host: "example.com", port: undefined })).toBe(false);
    expect(pattern({ host: "example.com", port: undefined }, true)).toBe(true);
    expect(pattern({ host: "example.com", port: 444 }, true)).toBe(false);
  });
});
