// A node that only appends: as fast as the store takes it, then at a steady pace.
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../../../packages/daemon/src/database.ts";
import { delta } from "../daemon/events.ts";

const SESSIONS = 16;
const APPEND = 16;
const PACED_APPENDS = 400;
const PACE_MS = 5;

const [location = "", name = "", events = "0"] = process.argv.slice(2);
const database = await openDatabase(location);
const nodeId = await database.nodes.register({ name, version: "0.1.0", codexVersion: "0.166.0" });
const settings = {
  permissionMode: "workspace-write",
  agentMode: "build",
  approvalPolicy: "on-request",
} as const;
const needs = [`node:${name}`];
for (let count = 0; count < SESSIONS; count += 1) {
  await database.sessions.insert({ cwd: "/work", settings, by: name, key: `${name}-${count}`, needs });
}
const owners = await database.sessions.claim({
  nodeId,
  name,
  limit: SESSIONS,
  labels: needs,
  codexVersion: "0.166.0",
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
  for (let count = 0; count < PACED_APPENDS; count += 1) {
    const owner = owners[count % SESSIONS];
    if (!owner) break;
    const begin = performance.now();
    times.push(database.journal.append(owner, batch(count)).then(() => performance.now() - begin));
    await delay(PACE_MS);
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
