import { describe, expect, test } from "vitest";
import { checkOrigin } from "./check-origin.ts";

const rules = { allowedHosts: ["codex.example"], allowedOrigins: ["https://console.example"] };

function check(headers: Record<string, string>): string {
  try {
    const url = "http://codex.example/sessions";
    checkOrigin({ url, headers: new Headers({ host: "127.0.0.1:4100", ...headers }) }, rules);
    return "allowed";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe("Host", () => {
  test.each([
    "localhost",
    "localhost:4100",
    "127.0.0.1:1",
    "[::1]:4100",
    "192.168.0.7:80",
    "codex.example",
    "CODEX.example:443",
  ])("%s is allowed", (host) => expect(check({ host })).toBe("allowed"));

  test.each(["evil.example", "codex.example.evil.example:4100", "localhost.evil.example", ""])(
    "%s is rejected",
    (host) => expect(check({ host })).toBe("host_not_allowed"),
  );
});

describe("Origin", () => {
  test.each(["http://127.0.0.1:4100", "https://127.0.0.1:4100", "https://console.example"])(
    "%s is allowed",
    (origin) => expect(check({ origin })).toBe("allowed"),
  );

  test.each(["http://127.0.0.1:9999", "http://evil.example", "null", "https://console.example.evil.example"])(
    "%s is rejected",
    (origin) => expect(check({ origin })).toBe("origin_not_allowed"),
  );
});

describe("Sec-Fetch-Site", () => {
  test.each([
    ["same-origin", "allowed"],
    ["none", "allowed"],
    ["same-site", "origin_not_allowed"],
    ["cross-site", "origin_not_allowed"],
  ])("%s: %s", (site, expected) => expect(check({ "sec-fetch-site": site })).toBe(expected));

  test("an allowed origin may be of another site", () => {
    expect(check({ origin: "https://console.example", "sec-fetch-site": "cross-site" })).toBe("allowed");
  });
});
