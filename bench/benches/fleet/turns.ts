import { raceAbort } from "@codexkit/rpc/async";
import { checkResponse } from "../turns/script.ts";
import { cpuTime } from "./cpu-time.ts";
import type { Fleet, FleetNode } from "./fleet.ts";

const SESSIONS = 100;
const TURNS = 2;

export type TurnCosts = {
  readonly turns: number;
  readonly cpu: number;
  readonly "cpu of Postgres": number;
};

/**
 * Sessions on all nodes at once, each through some turns: turns per second, and what one costs in nodes, codex and store together. On a
 * machine with few cores only the costs say something.
 *
 * @param postgres Process IDs of the server.
 */
export async function runTurns(
  fleet: Fleet,
  postgres: readonly number[],
  signal: AbortSignal,
): Promise<TurnCosts> {
  const nodes = fleet.nodes.map(({ process: { pid = 0 } }) => pid);
  // Code is compiled and codex is started before.
  await Promise.all(fleet.nodes.map((node) => runSession(node, fleet.workspace, 1)));
  const before = { nodes: cpuTime(nodes), postgres: cpuTime(postgres) };
  const begin = performance.now();
  const work = Array.from({ length: SESSIONS }, (_, index) => {
    const node = fleet.nodes[index % fleet.nodes.length];
    if (!node) throw new Error("There is no node.");
    return runSession(node, fleet.workspace, TURNS);
  });
  await raceAbort(Promise.all(work), signal);
  const seconds = (performance.now() - begin) / 1_000;
  const ofPostgres = cpuTime(postgres) - before.postgres;
  const count = SESSIONS * TURNS;
  return {
    turns: count / seconds,
    cpu: (cpuTime(nodes) - before.nodes + ofPostgres) / count,
    "cpu of Postgres": ofPostgres / count,
  };
}

export async function createSession({ client }: FleetNode, cwd: string): Promise<string> {
  const body = { cwd, permissionMode: "read-only", approvalPolicy: "never" } as const;
  const { session, command } = await client.createSession(body, { wait: 60_000 });
  if (command.problem) throw new Error(command.problem.detail);
  return session.id;
}

/** One session through some turns. Resolves to its ID. */
export async function runSession(node: FleetNode, cwd: string, turns: number): Promise<string> {
  const { client } = node;
  const sessionId = await createSession(node, cwd);
  const ending = new AbortController();
  const events = client.sessionEvents(sessionId, { signal: ending.signal });
  try {
    for (let turn = 0; turn < turns; turn += 1) {
      await client.send(sessionId, "answer");
      let message = "";
      for (;;) {
        const { value: event, done } = await events.next();
        if (done || event.type === "turn.failed") throw new Error("The turn did not complete.");
        if (event.type === "item.completed" && event.item.type === "agentMessage") message = event.item.text;
        if (event.type === "turn.completed") break;
      }
      checkResponse("answer", message);
    }
  } finally {
    ending.abort();
  }
  return sessionId;
}
