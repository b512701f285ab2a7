import { expect, test } from "vitest";
import type * as errors from "./errors.ts";
import { ExecError } from "./errors.ts";

test("an error is recognised, also one of another copy of the package", async () => {
  const copy = "./errors.ts?copy";
  const other = (await import(copy)) as typeof errors;
  expect(other.ExecError).not.toBe(ExecError);
  const error: unknown = new other.ExecError("timeout", "late");
  expect(error instanceof ExecError).toBe(false);
  expect(ExecError.is(error)).toBe(true);
  for (const value of [undefined, null, "timeout", { code: "timeout" }, new Error("timeout")])
    expect(ExecError.is(value)).toBe(false);
});
