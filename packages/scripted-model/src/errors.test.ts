import { expect, it, vi } from "vitest";
import { ScriptedModelError } from "./errors.ts";

it("recognises its own errors and those of another copy of the package", async () => {
  vi.resetModules();
  const copy = await import("./errors.ts");
  const foreign = new copy.ScriptedModelError("closed", "x");
  expect(foreign).not.toBeInstanceOf(ScriptedModelError);
  expect(ScriptedModelError.is(foreign)).toBe(true);
  expect(ScriptedModelError.is(new ScriptedModelError("closed", "x"))).toBe(true);
});

it.each([[new Error("x")], [{ name: "ScriptedModelError", code: "closed" }], [null]])(
  "does not recognise %o",
  (value) => {
    expect(ScriptedModelError.is(value)).toBe(false);
  },
);
