// Faults of a single node, on both kinds of store.
import { STORE_KINDS } from "@codexkit/store/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { checkInvariants, isEnd } from "./check-invariants.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import { finishWork, startWork } from "./start-work.ts";

/** Limit of the start of a fleet. */
const START_MS = 120_000;

describe.each(STORE_KINDS)("one node on %s", (kind) => {
  const databases = useDatabases(kind);
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.start({ nodes: ["a"], kind, locations: databases.locations });
  }, START_MS);

  afterAll(() => fleet[Symbol.asyncDispose]());

  // A failed test may leave a fault behind.
  beforeEach(() => fleet.heal(), START_MS);

  test.each(["killDaemon", "killAll"] as const)(
    "continues its sessions after %s",
    async (kill) => {
      await using client = new FleetClient(fleet);
      const node = fleet.node(0);
      const work = await startWork(client);
      await node[kill]();
      await node.start();
      await finishWork(client, work);
      const { items } = await checkInvariants(client);
      expect(items).toBeGreaterThan(0);
    },
    120_000,
  );

  test.runIf(kind === "postgres")(
    "continues its sessions after Postgres crashes, alone or with the node",
    async () => {
      await using client = new FleetClient(fleet);
      const node = fleet.node(0);
      const work = await startWork(client);
      await databases.locations.postgres.kill();
      await databases.locations.postgres.restart();
      await finishWork(client, work);
      await checkInvariants(client);
      const ends = client.readers.flatMap(({ events }) => events).filter(isEnd);
      expect(ends.filter(({ type }) => type !== "turn.completed")).toEqual([]);
      const again = await startWork(client);
      await node.killAll();
      await databases.locations.postgres.kill();
      await databases.locations.postgres.restart();
      await node.start();
      await finishWork(client, again);
      await checkInvariants(client);
    },
    120_000,
  );

  test.runIf(kind === "postgres")(
    "continues its sessions after every kind of network fault",
    async () => {
      await using client = new FleetClient(fleet);
      const { storeProxy } = fleet.node(0);
      for (const mode of ["blackhole", "half-open", "reset", "delay"] as const) {
        const { id } = await client.create();
        const held = await client.send(id, `hold ${mode}`);
        await client.event(id, ({ type }) => type === "item.delta");
        if (storeProxy) storeProxy.mode = mode;
        fleet.script.gate(mode).open();
        // In the mode `half-open`, new connections work.
        if (mode === "half-open") await client.send(id, "say during");
        if (storeProxy) storeProxy.mode = "pass";
        await client.finished(held);
      }
      await checkInvariants(client);
    },
    180_000,
  );

  test("leaves no process behind", async () => {
    const node = fleet.node(0);
    await node.stop();
    // Helper processes of a killed daemon end by themselves shortly after it.
    await expect.poll(() => node.processes()).toEqual([]);
  });
});
