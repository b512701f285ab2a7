// Random faults. CODEXKIT_FLEET_SEED=<seed> sets the first seed, and CODEXKIT_FLEET_SEEDS=<count> the number of seeds.
import { repetitions } from "@codexkit/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { fleetCommands, NO_FAULTS } from "../fleet-model.ts";
import { checkInvariants, type Checked } from "./check-invariants.ts";
import { DaemonFleet } from "./daemon-fleet.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import { COUNT_VARIABLE, createScenario, runScenario, SEED_VARIABLE } from "./scenario.ts";

const COUNT = repetitions({ test: 20, soak: 500 });
/** Number of scenarios that run concurrently on one fleet, so that each is exposed to the faults of all. */
const TOGETHER = 5;
/** Number of checks of a session that the faults of the other scenarios may cut off. */
const ATTEMPTS = 10;

const first = Number(process.env[SEED_VARIABLE] ?? Math.floor(Math.random() * 2 ** 31));
const count = Number(process.env[COUNT_VARIABLE] ?? COUNT);
const seeds = Array.from({ length: count }, (_, index) => first + index);

describe("random faults", () => {
  const databases = useDatabases("postgres");
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.start({
      nodes: ["a", "b", "c"],
      kind: "postgres",
      locations: databases.locations,
    });
  }, 120_000);

  afterAll(() => fleet[Symbol.asyncDispose]());

  async function run(seed: number): Promise<Checked> {
    const scenario = createScenario(seed);
    await using client = new FleetClient(fleet);
    try {
      await runScenario(client, databases.locations.postgres, scenario);
      return await checkInvariants(client, { attempts: ATTEMPTS });
    } catch (cause) {
      throw new Error(`The scenario ${JSON.stringify(scenario)} failed.`, { cause });
    }
  }

  test(
    `lose and repeat nothing, from seed ${first}`,
    async () => {
      const total: Checked = { items: 0, abortedOutputs: 0 };
      const waiting = [...seeds];
      const failed = new AbortController();
      const runNext = async (): Promise<void> => {
        for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
          failed.signal.throwIfAborted();
          const { items, abortedOutputs } = await run(seed);
          total.items += items;
          total.abortedOutputs += abortedOutputs;
        }
      };
      const lanes = Array.from({ length: TOGETHER }, async () =>
        runNext().catch((error: unknown) => failed.abort(error)),
      );
      await Promise.all(lanes);
      failed.signal.throwIfAborted();
      process.stdout.write(`${seeds.length} seeds from ${first}: ${JSON.stringify(total)}\n`);
      expect(total.items).toBeGreaterThan(seeds.length);
    },
    600_000 + 20_000 * seeds.length,
  );

  test(
    "that the model of the fleet explores also happen to real daemons",
    async () => {
      await fc.assert(
        fc.asyncProperty(fleetCommands(12), async (commands) => {
          await using client = new FleetClient(fleet);
          const driven = new DaemonFleet(client, databases.locations.postgres);
          await driven.addSession();
          try {
            await fc.asyncModelRun(() => ({ model: NO_FAULTS(), real: driven }), commands);
          } finally {
            await driven.heal();
          }
          await checkInvariants(client);
        }),
        { numRuns: repetitions({ test: 2, soak: 50 }), endOnFailure: true },
      );
    },
    repetitions({ test: 240_000, soak: 3_600_000 }),
  );

  test("leave no process behind", async () => {
    for (const node of fleet.nodes) await node.stop();
    // Helper processes of a killed daemon end by themselves shortly after it.
    for (const node of fleet.nodes) await expect.poll(() => node.processes()).toEqual([]);
  }, 120_000);
});
