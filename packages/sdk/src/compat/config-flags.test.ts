import { describe, expect, it } from "vitest";
import { toConfigFlags } from "./config-flags.ts";

describe("toConfigFlags", () => {
  it("writes nested tables as dotted keys and values as TOML", () => {
    expect(
      toConfigFlags({
        model: 'a "b"',
        retries: 3,
        sandbox_workspace_write: { network_access: true, writable_roots: ["/a", "/b"] },
        mcp_servers: { docs: { env: {}, headers: [{ "x-key": "1", "a b": "2" }] } },
        left_out: undefined,
      }),
    ).toEqual([
      String.raw`model="a \"b\""`,
      "retries=3",
      "sandbox_workspace_write.network_access=true",
      'sandbox_workspace_write.writable_roots=["/a", "/b"]',
      "mcp_servers.docs.env={}",
      'mcp_servers.docs.headers=[{x-key = "1", "a b" = "2"}]',
    ]);
    expect(toConfigFlags({})).toEqual([]);
  });

  it.each([
    [[], "Codex config overrides must be a plain object"],
    [{ a: null }, "Codex config override at a cannot be null"],
    [{ a: { b: [1, Number.NaN] } }, "Codex config override at a.b[1] must be a finite number"],
    [{ a: { "": 1 } }, "Codex config override keys must be non-empty strings"],
    [{ a: () => 1 }, "Unsupported Codex config override value at a: function"],
  ])("rejects %o with the original's message", (config, message) => {
    expect(() => toConfigFlags(config)).toThrow(new Error(message));
  });
});
