import fc from "fast-check";
import { expect, it } from "vitest";
import { Feed } from "./feed.ts";

it("gives what came before and after the reader, in order, then ends", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer()), fc.array(fc.integer()), async (before, after) => {
      const feed = new Feed<number>();
      for (const value of before) feed.push(value);
      const read = Array.fromAsync(feed);
      for (const value of after) {
        feed.push(value);
        await Promise.resolve();
      }
      feed.end();
      feed.push(0);
      expect(await read).toEqual([...before, ...after]);
    }),
  );
});

it("joins what nobody has read", async () => {
  const feed = new Feed<string>({ merge: (unread, next) => unread + next });
  for (const letter of "abc") feed.push(letter);
  feed.end();
  expect(await Array.fromAsync(feed)).toEqual(["abc"]);
});

it("gives what is unread before its error", async () => {
  const feed = new Feed<number>();
  feed.push(1);
  feed.end(new Error("gone"));
  feed.end();
  const seen: number[] = [];
  const read = async (): Promise<void> => {
    for await (const value of feed) seen.push(value);
  };
  await expect(read()).rejects.toThrow("gone");
  expect(seen).toEqual([1]);
});

it("tells when a reader leaves, and only then", async () => {
  let left = 0;
  const feed = new Feed<number>({
    onReturn: () => {
      left += 1;
      return Promise.resolve();
    },
  });
  feed.push(1);
  for await (const value of feed) if (value === 1) break;
  expect(left).toBe(1);
  feed.end();
  await Array.fromAsync(feed);
  expect(left).toBe(1);
});
