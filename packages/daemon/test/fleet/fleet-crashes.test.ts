// Crashes of nodes: other nodes continue their sessions.
import { describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { checkInvariants } from "./check-invariants.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import { FleetStore } from "./fleet-store.ts";
import { finishWork, startWork } from "./start-work.ts";

describe("a fleet of three nodes", () => {
  const databases = useDatabases("postgres");
  const start = () =>
    Fleet.start({ nodes: ["a", "b", "c"], kind: "postgres", locations: databases.locations });

  test("takes over the sessions of killed nodes, at every moment of a turn", async () => {
    await using fleet = await start();
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    for (const node of fleet.nodes) {
      const work = await startWork(client);
      const owned = [];
      for (const id of work.sessions) if ((await store.owner(id)) === node) owned.push(id);
      await node.killAll();
      await store.takenFrom(node, owned);
      await node.start();
      await finishWork(client, work);
    }
    const checked = await checkInvariants(client);
    expect(checked.items).toBeGreaterThan(5);
    const moves = client.readers
      .flatMap(({ events }) => events)
      .filter(({ type }) => type === "session.moved");
    expect(moves).not.toEqual([]);
  }, 180_000);
});
