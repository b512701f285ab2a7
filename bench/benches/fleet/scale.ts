import type { Database } from "../../../packages/daemon/src/database.ts";
import { itemEvents } from "../daemon/events.ts";
import { CODEX_VERSION, insertSession, registerNode } from "../daemon/store-node.ts";
import { quantile } from "./quantile.ts";

const REPETITIONS = 40;
const CLAIM = { name: "bench", limit: 1, labels: [], codexVersion: CODEX_VERSION };

export type ScaleTimes = {
  readonly claim: number;
  readonly list: number;
  readonly search: number;
  readonly append: number;
};

let keys = 0;

/** Median durations, in milliseconds, of store operations that every request or turn needs. */
export async function measureScale(database: Database): Promise<ScaleTimes> {
  const nodeId = await registerNode(database, "bench");
  const times = {
    claim: [] as number[],
    list: [] as number[],
    search: [] as number[],
    append: [] as number[],
  };
  const timed = async <Value>(list: number[], work: () => Promise<Value>): Promise<Value> => {
    const begin = performance.now();
    const value = await work();
    list.push(performance.now() - begin);
    return value;
  };
  let cursor: string | undefined;
  for (let count = 0; count < REPETITIONS; count += 1) {
    keys += 1;
    await insertSession(database, { by: "bench", key: `scale-${keys}` });
    const [owner] = await timed(times.claim, () => database.sessions.claim({ ...CLAIM, nodeId }));
    if (!owner) throw new Error("No session was claimed.");
    await timed(times.append, () =>
      database.journal.write({ owner, events: itemEvents(`item-${count}`, 4), changes: { phase: "idle" } }),
    );
    const page = await timed(times.list, () =>
      database.sessions.list(cursor === undefined ? {} : { cursor }),
    );
    cursor = page.nextCursor;
    const { rows } = await timed(times.search, () => database.sessions.list({ search: "quokka" }));
    if (rows.length === 0) throw new Error("Nothing was found.");
    await database.sessions.update(owner, { phase: "deleted" }, [{ type: "session.deleted" }]);
    await database.sessions.release(owner);
  }
  await database.nodes.retire(nodeId);
  return {
    claim: quantile(times.claim, 0.5),
    list: quantile(times.list, 0.5),
    search: quantile(times.search, 0.5),
    append: quantile(times.append, 0.5),
  };
}
