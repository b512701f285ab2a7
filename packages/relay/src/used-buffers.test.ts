import { setFlagsFromString } from "node:v8";
import { expect, onTestFinished, test } from "vitest";
import { countUsedBuffers, exposeGarbageCollector } from "./used-buffers.ts";

test("used buffers are freed once they have reached an amount", () => {
  const before = globalThis.gc;
  onTestFinished(() => {
    if (before) globalThis.gc = before;
    else Reflect.deleteProperty(globalThis, "gc");
    setFlagsFromString("--no-expose-gc");
  });
  exposeGarbageCollector();
  const allocate = (): void => void Buffer.alloc(11_000_000, 1);
  globalThis.gc?.({ type: "minor" });
  const free = process.memoryUsage().arrayBuffers;
  allocate();
  countUsedBuffers(11_000_000);
  expect(process.memoryUsage().arrayBuffers - free).toBeGreaterThan(10_000_000);
  countUsedBuffers(11_000_000);
  expect(process.memoryUsage().arrayBuffers - free).toBeLessThan(10_000_000);
});

test("counting buffers does nothing in a program that does not expose its garbage collector", () => {
  const before = globalThis.gc;
  Reflect.deleteProperty(globalThis, "gc");
  onTestFinished(() => {
    if (before) globalThis.gc = before;
  });
  expect(() => countUsedBuffers(50_000_000)).not.toThrow();
});
