import { expect, expectTypeOf, it, vi } from "vitest";
import { PolicyError, type PolicyErrorCode } from "./errors.ts";

it("recognises its own errors", () => {
  const error: unknown = new PolicyError("invalid_rule", "x");
  expect(PolicyError.is(error)).toBe(true);
  if (PolicyError.is(error)) expectTypeOf(error.code).toEqualTypeOf<PolicyErrorCode>();
});

it("recognises the errors of another copy of the package", async () => {
  vi.resetModules();
  const copy = await import("./errors.ts");
  const error = new copy.PolicyError("invalid_rule", "x");
  expect(error).not.toBeInstanceOf(PolicyError);
  expect(PolicyError.is(error)).toBe(true);
});

it.each([[new Error("x")], [{ name: "PolicyError", code: "invalid_rule" }], ["invalid_rule"], [null]])(
  "does not recognise %o as one",
  (value) => {
    expect(PolicyError.is(value)).toBe(false);
  },
);
