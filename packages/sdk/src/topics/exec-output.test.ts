import fc from "fast-check";
import { expect, it } from "vitest";
import { type ExecOutput, ExecOutputQueue } from "./exec-output.ts";

function piece(stream: "stdout" | "stderr", text: string): ExecOutput {
  return { stream, bytes: Buffer.from(text), capReached: false };
}

/** The text of each stream and the number of bytes reported as omitted. */
function total(pieces: readonly ExecOutput[]): { stdout: string; stderr: string; omitted: number } {
  const of = (stream: string): string =>
    pieces.flatMap((one) => (one.stream === stream ? [Buffer.from(one.bytes).toString()] : [])).join("");
  return {
    stdout: of("stdout"),
    stderr: of("stderr"),
    omitted: pieces.reduce((sum, { omittedBytes = 0 }) => sum + omittedBytes, 0),
  };
}

it("keeps each stream in order for any chunking and any reader", async () => {
  const output = fc.record({
    stream: fc.constantFrom("stdout" as const, "stderr" as const),
    text: fc.string(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(output), fc.nat(5), async (all, readFirst) => {
      const queue = new ExecOutputQueue();
      const read: ExecOutput[] = [];
      for (const [index, { stream, text }] of all.entries()) {
        queue.push(piece(stream, text));
        if (index !== readFirst) continue;
        // A reader that stops and starts again gets the rest.
        for await (const one of queue) {
          read.push(one);
          break;
        }
      }
      queue.end();
      read.push(...(await Array.fromAsync(queue)));
      const expected = total(all.map(({ stream, text }) => piece(stream, text)));
      expect(total(read)).toEqual(expected);
    }),
  );
});

it("drops the oldest chunks beyond the limit and reports the omitted bytes", async () => {
  const queue = new ExecOutputQueue(100_000);
  const large = "x".repeat(40_000);
  for (const text of ["first", large, large, large]) queue.push(piece("stdout", text));
  queue.end();
  const read = total(await Array.fromAsync(queue));
  expect(read.omitted).toBeGreaterThan(0);
  expect(read.stdout.length + read.omitted).toBe(3 * 40_000 + 5);
  expect(read.stdout.length).toBeLessThanOrEqual(100_000);
});

it("keeps the cap flag when chunks are joined", async () => {
  const queue = new ExecOutputQueue();
  queue.push(piece("stdout", "a"));
  queue.push({ ...piece("stdout", "b"), capReached: true });
  queue.end();
  expect(await Array.fromAsync(queue)).toEqual([{ ...piece("stdout", "ab"), capReached: true }]);
});
