import { CODEX_VERSION } from "@codexkit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkVersion, compareVersions, parseServerVersion } from "./version.ts";

const agent = (name: string, version: string): string =>
  `${name}/${version} (Debian 12.0.0; x86_64) xterm (${name}; 7.7.7)`;

describe("the server's version", () => {
  it.each(["codexkit", "my app/v2", "a/9.9.9 (x; y)", "1.2.3/4.5.6", "/", "x/1.0.0 (y", "(a; b)"])(
    "is found after the originator %j",
    (name) => {
      expect(parseServerVersion(agent(name, "0.166.0-alpha.3"))).toBe("0.166.0-alpha.3");
    },
  );

  it("is found after any originator", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (name, minor) => {
        expect(parseServerVersion(agent(name, `0.${minor}.0`))).toBe(`0.${minor}.0`);
      }),
    );
  });

  it("is found if another client's name ends the user agent", () => {
    expect(parseServerVersion("first/0.166.0 (Mac OS 15.1; arm64) iTerm (second; 1.0.0)")).toBe("0.166.0");
  });

  it.each(["", "codex", "codex/abc (x)", "0.166.0", "codex/0.166 (x)"])("is undefined for %j", (text) => {
    expect(parseServerVersion(text)).toBeUndefined();
    expect(checkVersion(text)).toMatchObject({
      version: undefined,
      warning: expect.stringContaining("user agent"),
    });
  });
});

describe("the check", () => {
  it("accepts the release of the types", () => {
    expect(checkVersion(agent("x", CODEX_VERSION))).toEqual({ version: CODEX_VERSION });
  });

  it.each(["0.98.0", "0.165.9", "0.166.0-alpha.12"])("rejects %s and says what to do", (version) => {
    const check = (): unknown =>
      checkVersion(agent("x", version), { minimum: "0.166.0", generated: "0.166.0" });
    expect(check).toThrow(expect.objectContaining({ code: "codex_too_old" }));
    expect(check).toThrow("npm install @openai/codex@latest");
  });

  it.each(["0.166.1", "0.167.0-alpha.1", "1.0.0"])("accepts %s with a warning", (version) => {
    expect(checkVersion(agent("x", version), { minimum: "0.166.0", generated: "0.166.0" })).toMatchObject({
      version,
      warning: expect.stringContaining("newer than 0.166.0"),
    });
  });

  it("accepts another minimum and a build from source", () => {
    expect(checkVersion(agent("x", "0.150.0"), { minimum: "0.149.0" })).toEqual({ version: "0.150.0" });
    expect(checkVersion(agent("x", "0.0.0")).warning).toContain("built from source");
  });
});

describe("the order of versions", () => {
  it("follows semver", () => {
    const inOrder = [
      "0.9.0",
      "0.10.0",
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
      "1.0.1",
    ];
    for (const [at, one] of inOrder.entries()) {
      for (const [than, other] of inOrder.entries()) {
        expect(Math.sign(compareVersions(one, other))).toBe(Math.sign(at - than));
      }
    }
    expect(compareVersions("v1.0.0+build.1", "1.0.0+build.2")).toBe(0);
  });

  it("is a total order", () => {
    const version = fc
      .tuple(fc.nat(3), fc.nat(3), fc.nat(3), fc.option(fc.constantFrom("alpha", "alpha.1", "1", "rc-1.x")))
      .map(([a, b, c, pre]) => `${a}.${b}.${c}${pre === null ? "" : `-${pre}`}`);
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0);
        fc.pre(compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0);
        expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});
