import type { PostgresServer } from "@codexkit/store/testing";
import fc from "fast-check";
import { setTimeout as delay } from "node:timers/promises";
import { NETWORK_MODES, type NetworkMode } from "./fault-proxy.ts";
import { FLEET_TIMES } from "./fleet.ts";
import type { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";
import type { WorkKind } from "./work-script.ts";

/** The environment variable with the seed of the first scenario. Default: a random seed. */
export const SEED_VARIABLE = "CODEXKIT_FLEET_SEED";
/** The environment variable with the number of scenarios. */
export const COUNT_VARIABLE = "CODEXKIT_FLEET_SEEDS";

/** A fault of a node, or of Postgres. The model of leases has the same faults; these happen to real processes. */
export interface Fault {
  readonly type:
    | "crash"
    | "kill-daemon"
    | "restart"
    | "pause"
    | "stop-codex"
    | "cut-store"
    | "cut-peers"
    | "kill-postgres";
  readonly node: number;
  readonly mode: NetworkMode;
  /** Duration in multiples of the lease. */
  readonly lasts: number;
}

/** A message, or another command for the session. */
interface Task {
  readonly session: number;
  readonly kind: WorkKind | "fork";
  readonly via: number;
}

export interface Scenario {
  readonly seed: number;
  readonly onInterrupted: "stop" | "continue";
  /** Each fault occurs while the tasks that were started just before it are running. */
  readonly steps: readonly { readonly tasks: readonly Task[]; readonly fault: Fault }[];
}

/** What the sessions of a scenario do. Commands of the second one need an approval. */
const SESSIONS: readonly {
  readonly permissionMode: "bypass" | "read-only";
  readonly kinds: readonly Task["kind"][];
}[] = [
  {
    permissionMode: "bypass",
    kinds: ["say", "stream", "run", "steps", "slow", "agent", "compact", "fork"],
  },
  { permissionMode: "read-only", kinds: ["say", "stream", "ask", "compact"] },
];

/** The index of one of 3 nodes. */
const node = fc.nat({ max: 2 });

const anyFault: fc.Arbitrary<Fault> = fc.record({
  type: fc.constantFrom(
    "crash",
    "kill-daemon",
    "restart",
    "pause",
    "stop-codex",
    "cut-store",
    "cut-peers",
    "kill-postgres",
  ),
  node,
  mode: fc.constantFrom(...NETWORK_MODES.filter((mode) => mode !== "pass")),
  lasts: fc.constantFrom(0, 0.3, 0.7, 1.3),
});

const task: fc.Arbitrary<Task> = fc.oneof(
  ...SESSIONS.map(({ kinds }, session) =>
    fc.record({ session: fc.constant(session), kind: fc.constantFrom(...kinds), via: node }),
  ),
);

const step = fc.record({ tasks: fc.array(task, { minLength: 1, maxLength: 3 }), fault: anyFault });

const scenario = fc.record({
  onInterrupted: fc.constantFrom("stop", "continue"),
  steps: fc.array(step, { minLength: 1, maxLength: 2 }),
});

export function createScenario(seed: number): Scenario {
  const [drawn = { onInterrupted: "stop" as const, steps: [] }] = fc.sample(scenario, { seed, numRuns: 1 });
  return { seed, ...drawn };
}

let works = 0;

/** Starts the tasks of a scenario and causes its faults. Resolves when the faults have ended. The tasks may still be running. */
export async function runScenario(
  client: FleetClient,
  postgres: PostgresServer,
  { steps, onInterrupted }: Scenario,
): Promise<void> {
  const { fleet } = client;
  const sessions = await Promise.all(
    SESSIONS.map(({ permissionMode }, index) =>
      client.create({ permissionMode, onInterrupted }, fleet.node(index)),
    ),
  );
  const forks: Promise<unknown>[] = [];
  for (const { tasks, fault: next } of steps) {
    await Promise.all(
      tasks.map(async ({ session, kind, via }) => {
        const id = sessions[session]?.id ?? "";
        works += 1;
        if (kind === "fork") {
          // Codex can't fork a thread without a message.
          const sent = await client.send(id, `say t${works}`, fleet.node(via));
          const forked = client.finished(sent).then(() => client.fork(id, fleet.node(via)));
          // It is awaited after the faults.
          forked.catch(() => {});
          forks.push(forked);
          return;
        }
        await client.send(id, `${kind} t${works}`, fleet.node(via));
        if (kind === "compact") await client.compact(id, fleet.node(via));
      }),
    );
    const target = fleet.node(next.node);
    if (next.type === "kill-postgres") await killPostgres(fleet.nodes, postgres, next);
    else await target.exclusively(() => inflict(target, next));
  }
  await Promise.all(forks);
}

function last({ lasts }: Fault): Promise<void> {
  return delay(lasts * FLEET_TIMES.fleet.leaseMs);
}

/** Excludes the faults of all nodes, because a daemon does not start without Postgres. */
async function killPostgres(
  nodes: readonly FleetNode[],
  postgres: PostgresServer,
  fault: Fault,
): Promise<void> {
  const [first, ...others] = nodes;
  if (first) return first.exclusively(() => killPostgres(others, postgres, fault));
  await postgres.kill();
  await last(fault);
  await postgres.restart();
}

async function inflict(target: FleetNode, fault: Fault): Promise<void> {
  const { type, mode } = fault;
  switch (type) {
    case "crash":
      await target.killAll();
      await last(fault);
      return target.start();
    case "kill-daemon":
      await target.killDaemon();
      await last(fault);
      return target.start();
    case "restart":
      await target.stop();
      await last(fault);
      return target.start();
    case "pause":
      target.pause();
      await last(fault);
      return target.resume();
    case "stop-codex":
      return target.stopAppServers(() => last(fault));
    case "cut-store":
    case "cut-peers": {
      const proxy = type === "cut-store" ? target.storeProxy : target.peerProxy;
      if (!proxy) return;
      proxy.mode = mode;
      await last(fault);
      proxy.mode = "pass";
      return;
    }
    case "kill-postgres":
      throw new Error("This is not a fault of a node.");
  }
}
