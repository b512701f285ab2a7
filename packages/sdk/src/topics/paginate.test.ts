import fc from "fast-check";
import { expect, it } from "vitest";
import { paginate } from "./paginate.ts";

/** Serves a list in pages. The cursor is the index of the next page. */
function pages(list: readonly number[], size: number) {
  return (cursor: string | null) => {
    const from = Number(cursor ?? 0);
    const end = from + size;
    return Promise.resolve({
      data: list.slice(from, end),
      nextCursor: end < list.length ? String(end) : null,
    });
  };
}

it("yields every entry once and in order for any page size", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer()), fc.integer({ min: 1, max: 7 }), async (list, size) => {
      expect(await Array.fromAsync(paginate(pages(list, size)))).toEqual(list);
    }),
  );
});

it("requests only pages that the reader reaches", async () => {
  const asked: (string | null)[] = [];
  for await (const entry of paginate((cursor) => {
    asked.push(cursor);
    return pages([1, 2, 3, 4], 2)(cursor);
  })) {
    if (entry === 2) break;
  }
  expect(asked).toEqual([null]);
});

it("rejects if the server returns a cursor twice", async () => {
  const seen: number[] = [];
  const read = async (): Promise<void> => {
    for await (const entry of paginate(() => Promise.resolve({ data: [1], nextCursor: "again" }))) {
      seen.push(entry);
    }
  };
  await expect(read()).rejects.toMatchObject({
    code: "request_failed",
    message: expect.stringMatching(/"again" twice/) as string,
  });
  expect(seen).toEqual([1, 1]);
});
