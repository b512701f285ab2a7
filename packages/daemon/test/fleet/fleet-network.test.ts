// Faults between the nodes and Postgres, and nodes that hang.
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { checkInvariants, isEnd } from "./check-invariants.ts";
import { Fleet, FLEET_TIMES } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";
import { FleetStore } from "./fleet-store.ts";
import { finishWork, startWork } from "./start-work.ts";

const NODES = ["a", "b", "c"];
const { leaseMs } = FLEET_TIMES.fleet;

/** Limit of the fleet's start. */
const START_MS = 120_000;

async function untilFrozen(client: FleetClient, node: FleetNode): Promise<void> {
  await client.until(`stopped app-servers of ${node.name}`, async () => {
    const servers = await node.appServers();
    return servers.length > 0 && servers.every(({ isStopped }) => isStopped) ? true : undefined;
  });
}

function setMode(node: FleetNode, mode: "pass" | "blackhole" | "half-open" | "reset"): void {
  if (node.storeProxy) node.storeProxy.mode = mode;
}

describe("a fleet of three nodes", () => {
  const databases = useDatabases("postgres");
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.start({ nodes: NODES, kind: "postgres", locations: databases.locations });
  }, START_MS);

  afterAll(() => fleet[Symbol.asyncDispose]());

  test("moves no session while Postgres restarts, at once or after several leases", async () => {
    await using client = new FleetClient(fleet);
    for (const outageMs of [0, 2 * leaseMs]) {
      const work = await startWork(client);
      await databases.locations.postgres.kill();
      await delay(outageMs);
      await databases.locations.postgres.restart();
      await finishWork(client, work);
      await checkInvariants(client);
    }
    const events = client.readers.flatMap(({ events: of }) => of);
    expect(events.filter(({ type }) => type === "session.moved")).toEqual([]);
    expect(events.filter((event) => isEnd(event) && event.type !== "turn.completed")).toEqual([]);
  }, 180_000);

  test("continues after a short partition, freezes in a longer one, and is fenced after its lease", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const [a, b, c] = [fleet.node(0), fleet.node(1), fleet.node(2)];
    const works = await Promise.all(fleet.nodes.map((node) => startWork(client, node)));
    const owners = new Map<string, FleetNode>();
    for (const id of works.flatMap(({ sessions }) => sessions)) owners.set(id, await store.owner(id));
    const of = (node: FleetNode) => [...owners].flatMap(([id, owner]) => (owner === node ? [id] : []));
    setMode(a, "blackhole");
    setMode(b, "blackhole");
    setMode(c, "blackhole");
    await delay(FLEET_TIMES.fleet.renewMs);
    setMode(a, "pass");
    if (of(b).length > 0) await untilFrozen(client, b);
    setMode(b, "pass");
    await store.takenFrom(c, of(c));
    setMode(c, "pass");
    for (const work of works) await finishWork(client, work);
    await checkInvariants(client);
  }, 180_000);

  test("detects dead connections that neither side closes", async () => {
    await using client = new FleetClient(fleet);
    const work = await startWork(client);
    for (const node of fleet.nodes) setMode(node, "half-open");
    const sent = await client.send(work.sessions[0] ?? "", "say during");
    await client.finished(sent);
    await finishWork(client, work);
    await checkInvariants(client);
  }, 180_000);

  test("takes over the sessions of a daemon that hangs, and fences it when it resumes", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const work = await startWork(client);
    const [id = ""] = work.sessions;
    const node = await store.owner(id);
    const owned: string[] = [];
    for (const session of work.sessions) if ((await store.owner(session)) === node) owned.push(session);
    node.pause();
    await store.takenFrom(node, owned);
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
    await owner.signalAppServers("SIGSTOP");
    await delay(2 * leaseMs);
    expect(await store.owner(id)).toBe(owner);
    await owner.signalAppServers("SIGCONT");
    fleet.script.gate("hang").open();
    const { result } = await client.finished(sent);
    const end = await client.event(
      id,
      (event) => isEnd(event) && "turnId" in event && event.turnId === result?.["turnId"],
    );
    expect(end.type).toBe("turn.completed");
    await checkInvariants(client);
  }, 180_000);

  test("works behind a proxy that loses notifications", async () => {
    await using blind = await Fleet.start({
      nodes: NODES,
      kind: "postgres",
      locations: databases.locations,
      losesNotifications: true,
    });
    await using client = new FleetClient(blind);
    const works = await Promise.all(blind.nodes.map((node) => startWork(client, node)));
    for (const [index, work] of works.entries()) {
      blind.script.gate(work.held).open();
      await client.answerAll(work.asking, blind.node((index + 1) % NODES.length));
    }
    await checkInvariants(client);
  }, 180_000);
});
