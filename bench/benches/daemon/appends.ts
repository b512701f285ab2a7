import type { DatabaseSync } from "node:sqlite";
import { delta } from "./events.ts";
import type { BenchStore } from "./setup.ts";

const EVENTS = 32_000;
/** Deltas per append, as they arrive in one read from codex. */
const APPEND = 16;
/** Rows per transaction of the floor, roughly as many as the journal commits at once. */
const TRANSACTION = 512;

let items = 0;

/** Events per second for concurrent deltas of all sessions, as fast as the journal accepts them. */
export async function appendEvents({ database, owners }: BenchStore): Promise<number> {
  items += 1;
  const itemId = `item-${items}`;
  const begin = performance.now();
  const perSession = EVENTS / owners.length;
  await Promise.all(
    owners.map(async (owner) => {
      let last: Promise<unknown> = Promise.resolve();
      for (let offset = 0; offset < perSession; offset += APPEND) {
        const events = Array.from({ length: APPEND }, (_, index) => delta(itemId, offset + index));
        last = database.journal.append(owner, events);
        await database.journal.waitForCapacity();
        // The next read from codex happens in a later turn of the event loop.
        if (offset % (APPEND * 8) === 0) await new Promise(setImmediate);
      }
      await last;
    }),
  );
  return (EVENTS * 1_000) / (performance.now() - begin);
}

/**
 * The least work for the same rows: prepared inserts into the same table, without fence, projection and
 * readers.
 */
export function insertPlainRows(plain: DatabaseSync): number {
  items += 1;
  const begin = performance.now();
  const insert = plain.prepare("insert into event values (?, ?, ?, ?, ?, ?, ?, ?)");
  for (let seq = 0; seq < EVENTS;) {
    plain.exec("begin");
    for (let count = 0; count < TRANSACTION && seq < EVENTS; count += 1, seq += 1) {
      const { type, ...data } = delta("item", seq);
      insert.run(`plain-${items}`, seq, 1, Date.now(), type, "turn", "item", JSON.stringify(data));
    }
    plain.exec("commit");
  }
  return (EVENTS * 1_000) / (performance.now() - begin);
}
