import fc from "fast-check";
import { expect, test, vi } from "vitest";

import { AsyncQueue } from "./async-queue.ts";

test("a reader gets every value in order, however writes and reads interleave", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 60 }), async (pauses) => {
      const queue = new AsyncQueue<number>();
      const read = Array.fromAsync(queue);

      for (const [index, pause] of pauses.entries()) {
        queue.push(index);
        if (pause) await Promise.resolve();
      }
      queue.end();

      await expect(read).resolves.toEqual([...pauses.keys()]);
    }),
  );
});

test("falsy values are delivered, undefined among them", async () => {
  const queue = new AsyncQueue<unknown>();
  for (const value of [undefined, null, 0, ""]) queue.push(value);
  queue.end();

  await expect(Array.fromAsync(queue)).resolves.toEqual([undefined, null, 0, ""]);
});

test("beyond its limit the oldest values are dropped and the reader gets their number", async () => {
  const queue = new AsyncQueue<string>({ maxSize: 3, onDropped: (count) => `${count} dropped` });
  for (const value of ["a", "b", "c", "d", "e"]) queue.push(value);
  queue.end();

  await expect(Array.fromAsync(queue)).resolves.toEqual(["2 dropped", "c", "d", "e"]);
});

test("the newest value stays, even if it alone is larger than the limit", async () => {
  const queue = new AsyncQueue<string>({ maxSize: 3, sizeOf: ({ length }) => length });
  queue.push("ab");
  queue.push("abcdef");
  queue.end();

  await expect(Array.fromAsync(queue)).resolves.toEqual(["abcdef"]);
});

test("an onDropped that throws ends the iteration with its error", async () => {
  const onReturn = vi.fn<() => void>();
  const queue = new AsyncQueue<number>({
    maxSize: 1,
    onDropped: (count) => {
      throw new Error(`${count} lost`);
    },
    onReturn,
  });
  queue.push(1);
  queue.push(2);

  await expect(Array.fromAsync(queue)).rejects.toThrow("1 lost");
  expect(onReturn).toHaveBeenCalledOnce();
});

test("unread values are merged and their size is recalculated", async () => {
  const queue = new AsyncQueue<string>({
    maxSize: 4,
    sizeOf: ({ length }) => length,
    merge: (unread, next) => (next === "|" ? undefined : unread + next),
  });
  for (const value of ["a", "b", "|", "c"]) queue.push(value);
  queue.end();

  await expect(Array.fromAsync(queue)).resolves.toEqual(["ab", "|c"]);
});

test("the error comes after the unread values, and later pushes and ends are ignored", async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  queue.end(new Error("closed"));
  queue.push(2);
  queue.end();
  const read: number[] = [];

  await expect(
    (async () => {
      for await (const value of queue) read.push(value);
    })(),
  ).rejects.toThrow("closed");
  expect(read).toEqual([1]);
});

test("onReturn runs when the reader stops early, and not at the end", async () => {
  const onReturn = vi.fn<() => void>();
  const queue = new AsyncQueue<number>({ onReturn });
  queue.push(1);
  for await (const value of queue) if (value === 1) break;
  expect(onReturn).toHaveBeenCalledOnce();

  queue.end();
  await Array.fromAsync(queue);
  expect(onReturn).toHaveBeenCalledOnce();
});

test("clear discards unread values", async () => {
  const queue = new AsyncQueue<number>({ maxSize: 1, onDropped: () => -1 });
  queue.push(1);
  queue.push(2);
  queue.clear();
  queue.push(3);
  queue.end();

  await expect(Array.fromAsync(queue)).resolves.toEqual([3]);
});
