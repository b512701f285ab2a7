import type { Fleet, FleetNode } from "./fleet.ts";
import { quantile } from "./quantile.ts";
import { createSession } from "./turns.ts";

const COMMANDS = 60;

interface Pair {
  readonly sessionId: string;
  readonly owner: FleetNode;
  readonly other: FleetNode;
}

const pairs = new WeakMap<Fleet, Promise<Pair>>();

/** A session, its owner, and another node. */
function findPair(fleet: Fleet): Promise<Pair> {
  let pair = pairs.get(fleet);
  if (!pair) pairs.set(fleet, (pair = makePair(fleet)));
  return pair;
}

async function makePair(fleet: Fleet): Promise<Pair> {
  const [first, second] = fleet.nodes;
  if (!first || !second) throw new Error("The fleet has no two nodes.");
  const sessionId = await createSession(first, fleet.workspace);
  const session = await first.client.request("GET /sessions/{sessionId}", { params: { sessionId } });
  const isFirst = session.node === first.name;
  return { sessionId, owner: isFirst ? first : second, other: isFirst ? second : first };
}

/** Median milliseconds from storing an event until a reader receives it. */
export async function readLatency(fleet: Fleet, reader: "owner" | "other"): Promise<number> {
  const pair = await findPair(fleet);
  const { sessionId, owner } = pair;
  const current = await owner.client.request("GET /sessions/{sessionId}", { params: { sessionId } });
  const ending = new AbortController();
  const events = pair[reader].client.sessionEvents(sessionId, {
    after: current.lastSeq,
    signal: ending.signal,
  });
  const times: number[] = [];
  try {
    for (let count = 0; count < COMMANDS; count += 1) {
      const name = `${reader} ${count}`;
      const renamed = rename(owner, sessionId, name);
      for (;;) {
        const { value: event, done } = await events.next();
        if (done) throw new Error("The stream has ended.");
        // Postgres uses the clock of this machine.
        if (event.type === "session.updated") {
          times.push(performance.timeOrigin + performance.now() - event.at);
          break;
        }
      }
      await renamed;
    }
  } finally {
    ending.abort();
  }
  return quantile(times, 0.5);
}

/** Median milliseconds until a command has its result. */
export async function commandTime(fleet: Fleet, through: "owner" | "other"): Promise<number> {
  const pair = await findPair(fleet);
  const times: number[] = [];
  for (let count = 0; count < COMMANDS; count += 1) {
    const begin = performance.now();
    await rename(pair[through], pair.sessionId, `through ${through} ${count}`);
    times.push(performance.now() - begin);
  }
  return quantile(times, 0.5);
}

async function rename({ client }: FleetNode, sessionId: string, name: string): Promise<void> {
  const command = await client.request("PUT /sessions/{sessionId}/name", {
    params: { sessionId },
    body: { name },
    query: { wait: 30_000 },
  });
  if (command.state !== "done") throw new Error(`The command is ${command.state}.`);
}
