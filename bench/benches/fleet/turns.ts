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
 * Runs several turns in sessions on all nodes concurrently. Measures turns per second, and the CPU time of a turn in nodes,
 * codex and store together. On a machine with few cores, only the CPU time is meaningful.
 *
 * @param postgres Process IDs of the server.
 */
export async function runTurns(
  fleet: Fleet,
  postgres: readonly number[],
  signal: AbortSignal,
): Promise<TurnCosts> {
  const nodes = fleet.nodes.map(({ process: { pid = 0 } }) => pid);
  // The first turn is not measured, because it compiles code and starts codex.
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

/** Runs several turns in a new session. Resolves to its ID. */
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
