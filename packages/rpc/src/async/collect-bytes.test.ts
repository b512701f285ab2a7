import fc from "fast-check";
import { expect, test } from "vitest";

import { collectBody, collectBytes } from "./collect-bytes.ts";

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

test("copies small chunks, so that each doesn't keep the memory that it is a part of", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3000), { maxLength: 200 }), async (sizes) => {
      const memory = new Uint8Array(3000);
      async function* chunks() {
        for (const [index, size] of sizes.entries()) {
          yield memory.fill(index, 0, size).subarray(0, size);
          memory.fill(255);
        }
      }
      const expected = Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index)));
      expect((await collectBytes(chunks(), expected.length))?.equals(expected)).toBe(true);
    }),
  );
});

test("joins small and large chunks in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(40_000), { maxLength: 20 }), async (sizes) => {
      const chunks = sizes.map((size, index) => Buffer.alloc(size, index));
      async function* all() {
        yield* chunks;
      }
      const expected = Buffer.concat(chunks);
      expect((await collectBytes(all(), expected.length))?.equals(expected)).toBe(true);
    }),
  );
});

test("reads the body of a request up to the limit", async () => {
  const request = () => new Request("http://host", { method: "POST", body: "body" });
  expect(await collectBody(request(), 4)).toEqual(Buffer.from("body"));
  expect(await collectBody(request(), 3)).toBeUndefined();
});

test("does not read a body that declares to be too long", async () => {
  const headers = { "content-length": "5" };
  const request = new Request("http://host", { method: "POST", body: "body", headers });
  expect(await collectBody(request, 4)).toBeUndefined();
  expect(request.bodyUsed).toBe(false);
});
