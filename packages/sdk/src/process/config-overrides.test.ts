import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkOverride, toConfigOverrides } from "./config-overrides.ts";
import { toTomlLiteral } from "./toml-literal.ts";

describe("an object as overrides", () => {
  it("becomes one key=value per setting, with nested tables in the value", () => {
    expect(
      toConfigOverrides({
        model: "gpt-5.5",
        "features.plugins": false,
        tool_output_token_limit: 12_000,
        notify: ["sh", "-c", 'echo "hi"'],
        mcp_servers: { docs: { command: "npx", args: [], env: { "A.B": "1" }, startup_timeout_sec: 2.5 } },
        left_out: undefined,
        projects: { "/home/me/a.b": { trust_level: "trusted", gone: undefined } },
      }),
    ).toEqual([
      'model="gpt-5.5"',
      "features.plugins=false",
      "tool_output_token_limit=12000",
      String.raw`notify=["sh", "-c", "echo \"hi\""]`,
      'mcp_servers={ docs = { command = "npx", args = [], env = { "A.B" = "1" }, startup_timeout_sec = 2.5 } }',
      'projects={ "/home/me/a.b" = { trust_level = "trusted" } }',
    ]);
  });

  it.each(["", "a b", "a=b", ".a", "a.", "a..b", '"a"', "ä"])("rejects %j as a name", (key) => {
    expect(() => toConfigOverrides({ [key]: 1 })).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });
});

describe("a value", () => {
  it.each([
    [null, "null"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    [2 ** 60, "bigint"],
    [2n ** 63n, "64 bits"],
    [new Date(0), "plain object"],
    [new Map(), "plain object"],
    [() => 1, "function"],
    [Symbol("s"), "symbol"],
    ["\uD800", "surrogate"],
    // eslint-disable-next-line no-sparse-arrays
    [[1, , 2], "undefined"],
    [[null], "null"],
  ])("that TOML can't represent is rejected with its path (%#)", (value, why) => {
    const write = (): string => toTomlLiteral({ deep: [value] }, "key");
    expect(write).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    expect(write).toThrow(why);
    expect(write).toThrow("key.deep[0]");
  });

  it("that contains itself is rejected", () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    expect(() => toTomlLiteral(loop, "key")).toThrow("contains itself");
  });

  it("is always one line, and a string has no raw control characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.nat(0x2_ff).map((point) => String.fromCodePoint(point)) }), (text) => {
        // eslint-disable-next-line no-control-regex
        expect(toTomlLiteral(text, "key")).not.toMatch(/[\u0000-\u001F\u007F]/);
      }),
    );
  });

  it("keeps odd numbers exact", () => {
    expect([-0, 1e-7, 0.1, -3, 2n ** 63n - 1n].map((value) => toTomlLiteral(value, "key"))).toEqual([
      "0",
      "1e-7",
      "0.1",
      "-3",
      "9223372036854775807",
    ]);
  });
});

describe("a hand-written override", () => {
  it("is accepted if it has a key and a value", () => {
    expect(checkOverride("a.b=[1]")).toBe("a.b=[1]");
    expect(checkOverride("a=")).toBe("a=");
  });

  it.each(["", "model", "=x", "  =x", "a=\0"])("%j is rejected", (override) => {
    expect(() => checkOverride(override)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});
