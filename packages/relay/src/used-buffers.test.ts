import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { countUsedBuffers, tuneGarbageCollector } from "./used-buffers.ts";

beforeEach(() => {
  // Other tests of the same process have counted too.
  countUsedBuffers(50_000_000);
  const before = globalThis.gc;
  onTestFinished(() => {
    if (before) globalThis.gc = before;
    else Reflect.deleteProperty(globalThis, "gc");
  });
});

test("used buffers are freed each time they have reached an amount", () => {
  const collected: unknown[] = [];
  globalThis.gc = ((options: unknown) => void collected.push(options)) as NodeJS.GCFunction;
  countUsedBuffers(11_000_000);
  expect(collected).toEqual([]);
  countUsedBuffers(1_000_000);
  expect(collected).toEqual([{ type: "minor" }]);
  countUsedBuffers(11_000_000);
  expect(collected).toHaveLength(1);
});

test("a running program can expose its garbage collector", () => {
  Reflect.deleteProperty(globalThis, "gc");
  expect(() => countUsedBuffers(50_000_000)).not.toThrow();
  tuneGarbageCollector();
  onTestFinished(() => setFlagsFromString("--no-expose-gc"));
  // V8 counts buffers of other tests too. It would collect its whole heap in the middle of an allocation if there were many,
  // and the new buffer would no longer be a young one.
  globalThis.gc?.();
  globalThis.gc?.();
  const before = process.memoryUsage().arrayBuffers;
  const allocate = (): void => void Buffer.alloc(16_000_000, 1);
  allocate();
  countUsedBuffers(16_000_000);
  // Another thread frees the buffers that a collection has found. The next collection waits for it.
  countUsedBuffers(16_000_000);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000);
});

test("this version of Node knows all flags of a program", async () => {
  const file = JSON.stringify(fileURLToPath(new URL("used-buffers.ts", import.meta.url)));
  const script = `import { tuneGarbageCollector } from ${file}; tuneGarbageCollector();`;
  // V8 reports an unknown flag on standard error, and continues.
  const { stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  expect(stderr).toBe("");
});
