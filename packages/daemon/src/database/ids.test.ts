import { describe, expect, it } from "vitest";
import { newId } from "./ids.ts";

describe("newId", () => {
  it("rises within a millisecond", () => {
    const ids = Array.from({ length: 10_000 }, newId);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is a UUID of version 7 with the time of its creation", () => {
    const id = newId();
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    const age = Date.now() - Number.parseInt(id.replace("-", "").slice(0, 12), 16);
    expect(Math.abs(age)).toBeLessThan(60_000);
  });
});
