import { expect, expectTypeOf, it, vi } from "vitest";
import { CodexError, type CodexErrorCode } from "./errors.ts";
import { TurnFailedError, type TurnResult } from "./events/turn-result.ts";

const result = { status: "failed" } as TurnResult;

it("recognises its own errors", () => {
  const error: unknown = new CodexError("closed", "x");
  expect(CodexError.is(error)).toBe(true);
  expect(TurnFailedError.is(error)).toBe(false);
  if (CodexError.is(error)) expectTypeOf(error.code).toEqualTypeOf<CodexErrorCode>();
});

it("recognises a failed turn as both of its classes", () => {
  const error: unknown = new TurnFailedError("turn_failed", "x", result);
  expect(CodexError.is(error)).toBe(true);
  expect(TurnFailedError.is(error)).toBe(true);
  if (TurnFailedError.is(error)) expectTypeOf(error.result).toEqualTypeOf<TurnResult>();
});

it("recognises the errors of another copy of the package", async () => {
  vi.resetModules();
  const copy = await import("./events/turn-result.ts");
  const error = new copy.TurnFailedError("turn_failed", "x", result);
  expect(error).not.toBeInstanceOf(CodexError);
  expect(CodexError.is(error)).toBe(true);
  expect(TurnFailedError.is(error)).toBe(true);
});

it.each([[new Error("x")], [{ name: "CodexError", code: "closed" }], ["closed"], [null], [undefined]])(
  "does not recognise %o",
  (value) => {
    expect(CodexError.is(value)).toBe(false);
    expect(TurnFailedError.is(value)).toBe(false);
  },
);
