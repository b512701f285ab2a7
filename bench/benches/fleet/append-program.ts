// A node that only appends events: at a steady rate, then as fast as possible.
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../../../packages/daemon/src/database.ts";
import { delta } from "../daemon/events.ts";
import { CODEX_VERSION, insertSession, registerNode } from "../daemon/store-node.ts";

const SESSIONS = 16;
const APPEND = 16;
const PACED_MS = 3_000;

const [location = "", name = "", events = "0", pace = "0"] = process.argv.slice(2);
const database = await openDatabase(location);
const nodeId = await registerNode(database, name);
const needs = [`node:${name}`];
for (let count = 0; count < SESSIONS; count += 1) {
  await insertSession(database, { by: name, key: `${name}-${count}`, needs });
}
const owners = await database.sessions.claim({
  nodeId,
  name,
  limit: SESSIONS,
  labels: needs,
  codexVersion: CODEX_VERSION,
});
if (owners.length !== SESSIONS) throw new Error(`Only ${owners.length} sessions were claimed.`);

const batch = (offset: number) => Array.from({ length: APPEND }, (_, index) => delta("item", offset + index));

async function appendAll(): Promise<void> {
  await Promise.all(
    owners.map(async (owner) => {
      let last: Promise<unknown> = Promise.resolve();
      for (let offset = 0; offset < Number(events) / SESSIONS; offset += APPEND) {
        last = database.journal.append(owner, batch(offset));
        await database.journal.waitForCapacity();
        if (offset % (APPEND * 8) === 0) await new Promise(setImmediate);
      }
      await last;
    }),
  );
}

/** Milliseconds until each append was stored. */
async function appendPaced(): Promise<number[]> {
  const times: Promise<number>[] = [];
  const total = Math.floor((Number(pace) * PACED_MS) / 1_000 / APPEND);
  const start = performance.now();
  while (times.length < total) {
    const due = Math.min(total, Math.ceil((total * (performance.now() - start)) / PACED_MS));
    while (times.length < due) {
      const owner = owners[times.length % SESSIONS];
      if (!owner) throw new Error("There are no sessions.");
      const begin = performance.now();
      const stored = database.journal.append(owner, batch(times.length));
      times.push(stored.then(() => performance.now() - begin));
    }
    await delay(1);
  }
  return Promise.all(times);
}

process.on("message", (step: "append" | "pace" | "close") => {
  const work = async (): Promise<unknown> => {
    if (step === "close") {
      await database.close();
      process.exit(0);
    }
    return step === "append" ? appendAll() : appendPaced();
  };
  void work().then((result) => process.send?.({ result: result ?? null }));
});
process.send?.({ result: "ready" });
