// Faults of a single node, on both kinds of store.
import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { checkInvariants, isEnd } from "./check-invariants.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import { finishWork, startWork } from "./start-work.ts";

describe.each(STORE_KINDS)("one node on %s", (kind) => {
  const databases = useDatabases(kind);
  const start = () => Fleet.start({ nodes: ["a"], kind, locations: databases.locations });

  test.each(["killDaemon", "killAll"] as const)(
    "continues its sessions after %s",
    async (kill) => {
      await using fleet = await start();
      await using client = new FleetClient(fleet);
      const node = fleet.node(0);
      const work = await startWork(client);
      await node[kill]();
      await node.start();
      await finishWork(client, work);
      const { items } = await checkInvariants(client);
      expect(items).toBeGreaterThan(0);
      await node.stop();
      expect(await node.processes()).toEqual([]);
    },
    120_000,
  );
});

describe("one node on postgres", () => {
  const databases = useDatabases("postgres");
  const start = () => Fleet.start({ nodes: ["a"], kind: "postgres", locations: databases.locations });

  test("continues its sessions after Postgres crashes, alone or with the node", async () => {
    await using fleet = await start();
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
  }, 120_000);

  test("continues its sessions after every kind of network fault", async () => {
    await using fleet = await start();
    await using client = new FleetClient(fleet);
    const { storeProxy } = fleet.node(0);
    for (const mode of ["blackhole", "half-open", "reset", "delay"] as const) {
      const work = await startWork(client);
      if (storeProxy) storeProxy.mode = mode;
      fleet.script.gate(work.held).open();
      // In the mode `half-open`, new connections work.
      if (mode === "half-open") await client.send(work.sessions[0] ?? "", "say during");
      if (storeProxy) storeProxy.mode = "pass";
      await finishWork(client, work);
    }
    await checkInvariants(client);
  }, 180_000);
});
