// Random faults. CODEXKIT_FLEET_SEED=<seed> sets the first seed, and CODEXKIT_FLEET_SEEDS=<count> the number of seeds.
import { repetitions } from "@codexkit/testing";
import { describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { checkInvariants, type Checked } from "./check-invariants.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import { COUNT_VARIABLE, createScenario, runScenario, SEED_VARIABLE } from "./scenario.ts";

const COUNT = repetitions({ test: 20, soak: 500 });
/** Number of scenarios that run concurrently on one fleet, so that each is exposed to the faults of all. */
const TOGETHER = 5;

const first = Number(process.env[SEED_VARIABLE] ?? Math.floor(Math.random() * 2 ** 31));
const count = Number(process.env[COUNT_VARIABLE] ?? COUNT);
const seeds = Array.from({ length: count }, (_, index) => first + index);

describe("random faults", () => {
  const databases = useDatabases("postgres");

  test(
    `lose and repeat nothing, from seed ${first}`,
    async () => {
      await using fleet = await Fleet.start({
        nodes: ["a", "b", "c"],
        kind: "postgres",
        locations: databases.locations,
      });
      const total: Checked = { items: 0, abortedOutputs: 0 };
      for (let at = 0; at < seeds.length; at += TOGETHER) {
        const scenarios = seeds.slice(at, at + TOGETHER).map((seed) => createScenario(seed));
        await using client = new FleetClient(fleet);
        try {
          await Promise.all(scenarios.map((scenario) => runScenario(client, scenario)));
          const { items, abortedOutputs } = await checkInvariants(client);
          total.items += items;
          total.abortedOutputs += abortedOutputs;
        } catch (cause) {
          throw new Error(`The scenarios ${JSON.stringify(scenarios)} failed.`, { cause });
        }
      }
      for (const node of fleet.nodes) await node.stop();
      for (const node of fleet.nodes) expect(await node.processes()).toEqual([]);
      process.stdout.write(`${seeds.length} seeds from ${first}: ${JSON.stringify(total)}\n`);
      expect(total.items).toBeGreaterThan(seeds.length);
    },
    600_000 + 20_000 * seeds.length,
  );
});
