import { describe, expect, it } from "vitest";
import { newId } from "./ids.ts";

describe("newId", () => {
  it("rises within a millisecond", () => {
    const ids = Array.from({ length: 10_000 }, newId);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is a UUID of version 7 with the time of its creation", () => {
    const before = Date.now();
    const id = newId();
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    // Later if the clock was set back, for example by another test of this process.
    expect(Number.parseInt(id.replace("-", "").slice(0, 12), 16)).toBeGreaterThanOrEqual(before);
  });
});
