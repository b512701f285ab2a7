// Faults between the nodes and Postgres, and nodes that hang.
import { setTimeout as delay } from "node:timers/promises";
import { PostgresProxy, TransactionPooler } from "@codexkit/store/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SessionEvent } from "../../src/api/event.ts";
import { useDatabases } from "../database-fixture.ts";
import { checkInvariants, isEnd } from "./check-invariants.ts";
import { type ConnectionUse, DEFAULT_TIMES, Fleet, FLEET_TIMES } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";
import { FleetStore } from "./fleet-store.ts";
import type { NetworkMode } from "./fault-proxy.ts";
import { finishWork, startWork } from "./start-work.ts";

const NODES = ["a", "b", "c"];
const { leaseMs, renewMs, renewTimeoutMs } = FLEET_TIMES.fleet;

/** Connections between a pooler and Postgres, fewer than a daemon opens. */
const POOLED = 6;

/** Limit of the fleet's start. */
const START_MS = 120_000;

async function untilFrozen(client: FleetClient, node: FleetNode): Promise<void> {
  await client.until(`stopped app-servers of ${node.name}`, async () => {
    const servers = await node.appServers();
    return servers.length > 0 && servers.every(({ isStopped }) => isStopped) ? true : undefined;
  });
}

function setMode(node: FleetNode, mode: NetworkMode): void {
  if (node.storeProxy) node.storeProxy.mode = mode;
}

function eventsOf(client: FleetClient, sessionId?: string): readonly SessionEvent[] {
  return client.readers
    .filter((reader) => sessionId === undefined || reader.sessionId === sessionId)
    .flatMap(({ events }) => events);
}

function expectNoMove(client: FleetClient, sessionId?: string): void {
  const events = eventsOf(client, sessionId);
  expect(events.filter(({ type }) => type === "session.moved")).toEqual([]);
  expect(events.filter((event) => isEnd(event) && event.type !== "turn.completed")).toEqual([]);
}

describe("a fleet of three nodes", () => {
  const databases = useDatabases("postgres");
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.start({ nodes: NODES, kind: "postgres", locations: databases.locations });
  }, START_MS);

  afterAll(() => fleet[Symbol.asyncDispose]());

  // A failed test may leave a fault behind.
  beforeEach(() => fleet.heal(), START_MS);

  test("continues after a short partition, freezes in a longer one, and is fenced after its lease", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const [a, b, c] = [fleet.node(0), fleet.node(1), fleet.node(2)];
    const held = await Promise.all(
      fleet.nodes.map(async (node) => {
        // Every node can run it, and this one owns it.
        const { id } = await store.createOn(node);
        const sent = await client.send(id, `hold partition-${node.name}`, node);
        await client.event(id, ({ type }) => type === "item.delta");
        return { id, sent };
      }),
    );
    const [ofA, ofB, ofC] = held.map(({ id }) => id);
    const servers = await c.appServers();
    expect(servers).not.toEqual([]);
    for (const node of fleet.nodes) setMode(node, "blackhole");
    await delay(renewMs);
    setMode(a, "pass");
    await untilFrozen(client, b);
    setMode(b, "pass");
    await store.takenFrom(c, [ofC ?? ""]);
    setMode(c, "pass");
    await client.until("the end of the fenced app-servers", async () => {
      const running = new Set((await c.appServers()).map(({ pid }) => pid));
      return servers.some(({ pid }) => running.has(pid)) ? undefined : true;
    });
    for (const node of fleet.nodes) fleet.script.gate(`partition-${node.name}`).open();
    for (const { sent } of held) await client.finished(sent);
    await checkInvariants(client);
    expectNoMove(client, ofA);
    expectNoMove(client, ofB);
    expect(eventsOf(client, ofC)).toContainEqual(
      expect.objectContaining({ type: "session.moved", from: "c", reason: "node_lost" }),
    );
  }, 180_000);

  test.each<ConnectionUse>(["renewal", "notification", "pool"])(
    "replaces a dead connection of the %s that neither side closes",
    async (use) => {
      await using client = new FleetClient(fleet);
      await using store = await FleetStore.open(client);
      const [owner, other] = [fleet.node(0), fleet.node(1)];
      const { id } = await store.createOn(owner);
      await client.send(id, `hold ${use}`);
      await client.event(id, ({ type }) => type === "item.delta");
      const lines = owner.log.length;
      const { storeProxy } = owner;
      const renewedAt = await store.leaseUntil(owner);
      expect(storeProxy?.cutHalfOpen(use)).toBeGreaterThan(0);
      if (use === "renewal") {
        // The dead connection is given up at the limit of a renewal, and the lease is renewed over another one.
        await client.until("a renewal that is not answered", () =>
          owner.log.slice(lines).some((line) => line.includes(`did not answer within ${renewTimeoutMs} ms`))
            ? true
            : undefined,
        );
        await client.until("a renewal", async () =>
          (await store.leaseUntil(owner)) > renewedAt + renewTimeoutMs ? true : undefined,
        );
      }
      fleet.script.gate(use).open();
      await client.finished(await client.send(id, `say ${use}`, other));
      await checkInvariants(client);
      expectNoMove(client);
    },
    180_000,
  );

  test("takes over the sessions of a daemon that hangs, and fences it when it resumes", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const node = fleet.node(0);
    const work = await startWork(client, { via: node, create: (settings) => store.createOn(node, settings) });
    node.pause();
    await store.takenFrom(node, work.waiting);
    node.resume();
    await finishWork(client, work);
    await checkInvariants(client);
  }, 180_000);

  test("keeps a session whose codex hangs", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { id } = await client.create();
    const sent = await client.send(id, "hold hang");
    await client.event(id, ({ type }) => type === "item.delta");
    const owner = await store.owner(id);
    await owner.stopAppServers(() => delay(2 * leaseMs));
    expect(await store.owner(id)).toBe(owner);
    fleet.script.gate("hang").open();
    const { result } = await client.finished(sent);
    const end = await client.event(
      id,
      (event) => isEnd(event) && "turnId" in event && event.turnId === result?.["turnId"],
    );
    expect(end.type).toBe("turn.completed");
    await checkInvariants(client);
  }, 180_000);
});

describe("a fleet without notifications", () => {
  const databases = useDatabases("postgres");

  test("works behind poolers in transaction mode, and behind a proxy that loses notifications", async () => {
    await using fleet = await Fleet.start({
      nodes: NODES,
      kind: "postgres",
      locations: databases.locations,
      times: DEFAULT_TIMES,
      pooler: async (location, node) =>
        node === 0
          ? PostgresProxy.start(location, { decide: ({ type }) => (type === "A" ? "drop" : "forward") })
          : TransactionPooler.start(location, { connections: POOLED }),
    });
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const work = async (node: FleetNode): Promise<void> => {
      const { id } = await client.create({ permissionMode: "read-only" }, node);
      const owner = await store.owner(id);
      // Without notifications, the owner finds the message and the answer of other nodes only by polling.
      const [first = owner, second = owner] = fleet.nodes.filter((other) => other !== owner);
      const sent = await client.send(id, `ask blind-${node.name}`, first);
      await client.event(id, ({ type }) => type === "inbox.opened");
      await client.answerAll(id, second);
      await client.finished(sent);
    };
    await Promise.all(fleet.nodes.map((node) => work(node)));
    await checkInvariants(client);
  }, 180_000);
});
