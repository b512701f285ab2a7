import fc from "fast-check";
import { expect, test } from "vitest";

import { KeyedSerialQueue, SerialQueue } from "./serial-queue.ts";

test("any tasks run one at a time, in order, even if some fail", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ steps: fc.nat(3), fails: fc.boolean() })), async (tasks) => {
      const queue = new SerialQueue();
      const log: string[] = [];
      const results = tasks.map(({ steps, fails }, index) =>
        queue.run(async () => {
          log.push(`start ${index}`);
          for (let step = 0; step < steps; step += 1) await Promise.resolve();
          log.push(`end ${index}`);
          if (fails) throw new Error(`task ${index}`);
          return index;
        }),
      );

      const settled = await Promise.allSettled(results);

      expect(log).toEqual(tasks.flatMap((_, index) => [`start ${index}`, `end ${index}`]));
      expect(settled.map(({ status }) => status)).toEqual(
        tasks.map(({ fails }) => (fails ? "rejected" : "fulfilled")),
      );
      expect(queue.size).toBe(0);
    }),
  );
});

test("a lock that is disposed twice admits one task", async () => {
  const queue = new SerialQueue();
  const first = await queue.acquire();
  const second = queue.acquire();
  const third = queue.acquire();

  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await second;

  expect(queue.size).toBe(2);
  (await second)[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  expect(queue.size).toBe(0);
});

test("keys run concurrently, and a key without tasks is forgotten", async () => {
  const queues = new KeyedSerialQueue<string>();
  const slow = await queues.acquire("a");
  const waiting = queues.run("a", () => "a2");

  await expect(queues.run("b", () => "b1")).resolves.toBe("b1");
  expect(queues.size).toBe(1);

  slow[Symbol.dispose]();
  await expect(waiting).resolves.toBe("a2");
  expect(queues.size).toBe(0);
});
