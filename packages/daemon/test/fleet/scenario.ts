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

/** A fault of a node. The model of leases has the same faults; these happen to real processes. */
export interface Fault {
  readonly type: "crash" | "kill-daemon" | "restart" | "pause" | "stop-codex" | "cut-store" | "cut-peers";
  readonly node: number;
  readonly mode: NetworkMode;
  /** Duration in multiples of the lease. */
  readonly lasts: number;
}

interface Task {
  readonly session: number;
  readonly kind: WorkKind;
  readonly via: number;
}

export interface Scenario {
  readonly seed: number;
  /** Each fault occurs while the tasks that were started just before it are running. */
  readonly steps: readonly { readonly tasks: readonly Task[]; readonly fault: Fault }[];
}

const KINDS: readonly WorkKind[] = ["say", "stream", "run", "steps", "slow", "agent"];
const SESSIONS = 2;
/** The index of one of 3 nodes. */
const node = fc.nat({ max: 2 });

const fault: fc.Arbitrary<Fault> = fc.record({
  type: fc.constantFrom("crash", "kill-daemon", "restart", "pause", "stop-codex", "cut-store", "cut-peers"),
  node,
  mode: fc.constantFrom(...NETWORK_MODES.filter((mode) => mode !== "pass")),
  lasts: fc.constantFrom(0, 0.3, 0.7, 1.3),
});

const step = fc.record({
  tasks: fc.array(
    fc.record({ session: fc.nat({ max: SESSIONS - 1 }), kind: fc.constantFrom(...KINDS), via: node }),
    { minLength: 1, maxLength: 3 },
  ),
  fault,
});

const steps = fc.array(step, { minLength: 1, maxLength: 2 });

export function createScenario(seed: number): Scenario {
  const [drawn = []] = fc.sample(steps, { seed, numRuns: 1 });
  return { seed, steps: drawn };
}

let tasks = 0;

/** Starts the tasks of a scenario and causes its faults. Resolves when the faults have ended. The tasks may still be running. */
export async function runScenario(client: FleetClient, { steps: all }: Scenario): Promise<void> {
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) => client.create({}, client.fleet.node(index))),
  );
  for (const { tasks: wanted, fault: next } of all) {
    await Promise.all(
      wanted.map(async ({ session, kind, via }) => {
        tasks += 1;
        await client.send(sessions[session]?.id ?? "", `${kind} t${tasks}`, client.fleet.node(via));
      }),
    );
    const target = client.fleet.node(next.node);
    await target.exclusively(() => inflict(target, next));
  }
}

async function inflict(target: FleetNode, { type, mode, lasts }: Fault): Promise<void> {
  const last = async (): Promise<void> => {
    await delay(lasts * FLEET_TIMES.fleet.leaseMs);
  };
  switch (type) {
    case "crash":
      await target.killAll();
      await last();
      return target.start();
    case "kill-daemon":
      await target.killDaemon();
      await last();
      return target.start();
    case "restart":
      await target.stop();
      await last();
      return target.start();
    case "pause":
      target.pause();
      await last();
      return target.resume();
    case "stop-codex":
      await target.signalAppServers("SIGSTOP");
      await last();
      return target.signalAppServers("SIGCONT");
    case "cut-store":
    case "cut-peers": {
      const proxy = type === "cut-store" ? target.storeProxy : target.peerProxy;
      if (!proxy) return;
      proxy.mode = mode;
      await last();
      proxy.mode = "pass";
    }
  }
}
