// Faults of a seeded generator. CODEXKIT_FLEET_SEED=<seed> begins at a seed, CODEXKIT_FLEET_SEEDS=<count> limits their number.
import { repetitions } from "@codexkit/testing";
import { describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { checkInvariants, type Checked } from "./check-invariants.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import { COUNT_VARIABLE, createScenario, runScenario, SEED_VARIABLE } from "./scenario.ts";

const COUNT = repetitions({ test: 20, soak: 500 });
/** Scenarios that meet each other's faults on one fleet. */
const TOGETHER = 5;

const first = Number(process.env[SEED_VARIABLE] ?? Math.floor(Math.random() * 2 ** 31));
const count = Number(process.env[COUNT_VARIABLE] ?? COUNT);
const seeds = Array.from({ length: count }, (_, index) => first + index);

describe("any faults", () => {
  const databases = useDatabases("postgres");

  test(
    `leave every session whole, from seed ${first} on`,
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
      process.stdout.write(`${seeds.length} seeds from ${first} on: ${JSON.stringify(total)}\n`);
      expect(total.items).toBeGreaterThan(seeds.length);
    },
    600_000 + 20_000 * seeds.length,
  );
});
