// Crashes of nodes: other nodes continue their sessions.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { checkInvariants } from "./check-invariants.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";
import { FleetStore } from "./fleet-store.ts";
import { finishWork, startWork } from "./start-work.ts";

/** Limit of the start of a fleet. */
const START_MS = 120_000;

describe("a fleet of three nodes", () => {
  const databases = useDatabases("postgres");
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.start({
      nodes: ["a", "b", "c"],
      kind: "postgres",
      locations: databases.locations,
    });
  }, START_MS);

  afterAll(() => fleet[Symbol.asyncDispose]());

  // A failed test may leave a fault behind.
  beforeEach(() => fleet.heal(), START_MS);

  const startOn = (client: FleetClient, store: FleetStore, node: FleetNode) =>
    startWork(client, { via: node, create: (settings) => store.createOn(node, settings) });

  /** The reasons for which the session has moved away from a node. */
  function movesFrom(client: FleetClient, node: FleetNode, sessionId: string): readonly string[] {
    const reader = client.readers.find((other) => other.sessionId === sessionId);
    return (reader?.events ?? []).flatMap((event) =>
      event.type === "session.moved" && event.from === node.name ? [event.reason] : [],
    );
  }

  test("takes over the sessions of a killed node, at every moment of a turn", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const node = fleet.node(0);
    const work = await startOn(client, store, node);
    await node.killAll();
    await store.takenFrom(node, work.waiting);
    await node.start();
    await finishWork(client, work);
    const checked = await checkInvariants(client);
    expect(checked.items).toBeGreaterThan(5);
    for (const id of work.waiting) expect(movesFrom(client, node, id)).toEqual(["node_lost"]);
  }, 180_000);

  test("takes them over after Postgres was killed together with the node", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const node = fleet.node(1);
    const work = await startOn(client, store, node);
    await Promise.all([node.killAll(), databases.locations.postgres.kill()]);
    await databases.locations.postgres.restart();
    await store.takenFrom(node, work.waiting);
    await node.start();
    await finishWork(client, work);
    const checked = await checkInvariants(client);
    expect(checked.items).toBeGreaterThan(0);
    for (const id of work.waiting) expect(movesFrom(client, node, id)).toEqual(["node_lost"]);
  }, 180_000);
});
