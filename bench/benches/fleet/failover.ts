import { setTimeout as delay } from "node:timers/promises";
import type { Fleet } from "./fleet.ts";
import { createSession, runSession } from "./turns.ts";

const POLL_MS = 20;
const LIMIT_MS = 120_000;
const IDLE_SESSIONS = 200;

/** Milliseconds from killing a node in the middle of a turn until another node appends the first event to the session. */
export async function failOver(fleet: Fleet): Promise<number> {
  const [first] = fleet.nodes;
  if (!first) throw new Error("The fleet has no nodes.");
  const sessionId = await runSession(first, fleet.workspace, 1);
  const before = await first.client.request("GET /sessions/{sessionId}", { params: { sessionId } });
  const owner = fleet.nodes.find(({ name }) => name === before.node);
  const other = fleet.nodes.find(({ name }) => name !== before.node);
  if (!owner || !other) throw new Error("The fleet has no two nodes.");
  const events = other.client.sessionEvents(sessionId, { after: before.lastSeq });
  await owner.client.send(sessionId, "stream");
  for (;;) {
    const { value: event, done } = await events.next();
    if (done) throw new Error("The stream has ended.");
    if (event.type === "item.delta") break;
  }
  const begin = performance.now();
  owner.process.kill("SIGKILL");
  for (;;) {
    const { value: event, done } = await events.next();
    if (done) throw new Error("The stream has ended.");
    if (event.type === "session.moved") break;
  }
  await events.return(undefined);
  return performance.now() - begin;
}

/** Milliseconds from the request to drain a node until it owns no session. */
export async function drainIdle(fleet: Fleet): Promise<number> {
  const [node, other] = fleet.nodes;
  if (!node || !other) throw new Error("The fleet has no two nodes.");
  for (let count = 0; count < IDLE_SESSIONS; count += 10) {
    await Promise.all(Array.from({ length: 10 }, () => createSession(node, fleet.workspace)));
  }
  const listed = await other.client.request("GET /nodes", {});
  const id = listed.data.find(({ name }) => name === node.name)?.id;
  if (id === undefined) throw new Error("The node is not listed.");
  const begin = performance.now();
  await other.client.request("POST /nodes/{nodeId}/drain", { params: { nodeId: id } });
  while (performance.now() - begin < LIMIT_MS) {
    const { data } = await other.client.request("GET /nodes", {});
    const current = data.find((entry) => entry.id === id);
    if (!current || current.sessions === 0) return performance.now() - begin;
    await delay(POLL_MS);
  }
  throw new Error("The node was not drained.");
}
