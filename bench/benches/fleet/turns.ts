import { raceAbort } from "@codexkit/rpc/async";
import { checkResponse } from "../turns/script.ts";
import { cpuTime } from "./cpu-time.ts";
import type { Fleet, FleetNode } from "./fleet.ts";

const SESSIONS = 200;
/** More would wait for connections to the store for longer than a node lets them. */
const CREATED_AT_ONCE = 20;

export type TurnCosts = {
  readonly turns: number;
  readonly cpu: number;
  readonly "cpu of Postgres": number;
};

/**
 * Runs a turn in each of many sessions on all nodes concurrently. Measures turns per second, and the CPU time of a turn in nodes,
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
  const sessions: { readonly node: FleetNode; readonly id: string }[] = [];
  while (sessions.length < SESSIONS) {
    const created = Array.from({ length: CREATED_AT_ONCE }, async (_, index) => {
      const node = fleet.nodes[index % fleet.nodes.length];
      if (!node) throw new Error("There is no node.");
      return { node, id: await createSession(node, fleet.workspace) };
    });
    sessions.push(...(await raceAbort(Promise.all(created), signal)));
  }
  const before = { nodes: cpuTime(nodes), postgres: cpuTime(postgres) };
  const begin = performance.now();
  await raceAbort(Promise.all(sessions.map(({ node, id }) => runTurnsOf(node, id, 1))), signal);
  const seconds = (performance.now() - begin) / 1_000;
  const ofPostgres = cpuTime(postgres) - before.postgres;
  return {
    turns: SESSIONS / seconds,
    cpu: (cpuTime(nodes) - before.nodes + ofPostgres) / SESSIONS,
    "cpu of Postgres": ofPostgres / SESSIONS,
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
  const sessionId = await createSession(node, cwd);
  await runTurnsOf(node, sessionId, turns);
  return sessionId;
}

async function runTurnsOf({ client }: FleetNode, sessionId: string, turns: number): Promise<void> {
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
}
