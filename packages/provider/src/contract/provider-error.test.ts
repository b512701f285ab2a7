import { describe, expect, it } from "vitest";
import { ProviderError } from "./provider-error.ts";

describe("a provider error", () => {
  it("keeps its message, code and cause in JSON", () => {
    const error = new ProviderError("spawn_failed", "It did not start.", { cause: new Error("no memory") });
    expect(JSON.parse(JSON.stringify({ error }))).toEqual({
      error: {
        name: "ProviderError",
        code: "spawn_failed",
        message: "It did not start.",
        retryable: false,
        cause: "no memory",
      },
    });
  });

  it("is retryable depending on its code, unless overridden", () => {
    expect(new ProviderError("rate_limited", "").retryable).toBe(true);
    expect(new ProviderError("server_error", "").retryable).toBe(true);
    expect(new ProviderError("authentication_failed", "").retryable).toBe(false);
    expect(new ProviderError("quota_exceeded", "").retryable).toBe(false);
    expect(new ProviderError("spawn_failed", "", { retryable: true }).retryable).toBe(true);
  });

  it("is recognised across copies of the package", () => {
    class Copy extends Error {}
    Object.defineProperty(Copy.prototype, Symbol.for("@codexkit/provider/ProviderError"), { value: true });
    expect(ProviderError.is(new ProviderError("spawn_failed", ""))).toBe(true);
    expect(ProviderError.is(new Copy())).toBe(true);
    expect(
      [new Error("x"), undefined, "spawn_failed", { code: "spawn_failed" }].some((value) =>
        ProviderError.is(value),
      ),
    ).toBe(false);
  });
});
