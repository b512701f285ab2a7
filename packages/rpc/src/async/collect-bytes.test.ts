import fc from "fast-check";
import { expect, test } from "vitest";

import { collectBytes } from "./collect-bytes.ts";

test("joins chunks up to the limit", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 5 })), fc.nat(20), async (chunks, maxBytes) => {
      const whole = Buffer.concat(chunks);
      const collected = await collectBytes(new Response(whole).body, maxBytes);
      expect(collected).toEqual(whole.length > maxBytes ? undefined : whole);
    }),
  );
});

test("stops reading at the limit", async () => {
  let isClosed = false;
  async function* endless() {
    try {
      for (;;) yield new Uint8Array(3);
    } finally {
      isClosed = true;
    }
  }
  expect(await collectBytes(endless(), 10)).toBeUndefined();
  expect(isClosed).toBe(true);
});

test("treats a missing body as empty", async () => {
  expect(await collectBytes(null, 0)).toEqual(Buffer.alloc(0));
});
