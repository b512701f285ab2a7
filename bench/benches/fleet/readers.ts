import { readTurns, TURNS } from "../daemon/readers.ts";
import { checkResponse } from "../turns/script.ts";
import type { Fleet } from "./fleet.ts";
import { createSession } from "./turns.ts";

const READERS = 1_000;

/** Number of readers of one session, distributed over all nodes, that received every event of 20 turns. */
export async function readOnAllNodes(
  fleet: Fleet,
): Promise<{ readonly completed: number; readonly time: number }> {
  const [first] = fleet.nodes;
  if (!first) throw new Error("There is no node.");
  const sessionId = await createSession(first, fleet.workspace);
  const begin = performance.now();
  const readers = Array.from({ length: READERS }, (_, index) => {
    const node = fleet.nodes[index % fleet.nodes.length] ?? first;
    return readTurns(`${node.url}/sessions/${sessionId}/events`);
  });
  for (let turn = 0; turn < TURNS; turn += 1) await first.client.send(sessionId, "answer");
  const texts = await Promise.all(readers);
  for (const text of texts) checkResponse("answer", text);
  return { completed: texts.length, time: performance.now() - begin };
}
