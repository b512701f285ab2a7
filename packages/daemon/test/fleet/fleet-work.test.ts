// Work that moves between nodes: approvals, messages, forks, and a rolling restart.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SessionEvent } from "../../src/api/event.ts";
import { DaemonClientError } from "../../src/client/errors.ts";
import { useDatabases } from "../database-fixture.ts";
import { askForApproval as ask } from "./ask-for-approval.ts";
import { checkInvariants, isEnd } from "./check-invariants.ts";
import { DEFAULT_TIMES, Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";
import { FleetStore } from "./fleet-store.ts";

const ACCEPT = { type: "decision", offer: "accept" } as const;
const DECLINE = { type: "decision", offer: "decline" } as const;

/** The times of a fleet are shifted by this to simulate that it waits for an answer. */
const DAYS_MS = 3 * 24 * 3_600_000;

const NODES = ["a", "b", "c"];
/** Limit of a fleet's start. */
const START_MS = 120_000;

describe("a fleet", () => {
  const databases = useDatabases("postgres");
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.start({ nodes: NODES, kind: "postgres", locations: databases.locations });
  }, START_MS);

  afterAll(() => fleet[Symbol.asyncDispose]());

  // A failed test may leave a fault behind.
  beforeEach(() => fleet.heal(), START_MS);

  /** Number of times that the commands of a call were run. */
  async function timesRun(callId: string): Promise<number> {
    return (await fleet.commandRuns()).filter((run) => run.callId === callId).length;
  }

  test("sends a message once if its node dies between the call to Codex and storing its result", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { id } = await client.create();
    const moments = ["command.started", "item.completed", "command.finished"];
    for (const [round, moment] of moments.entries()) {
      await client.idle(id);
      const owner = await store.owner(id);
      const cut = owner.storeProxy?.blackholeBefore(moment);
      const other = fleet.nodes.find((node) => node !== owner);
      await client.send(id, `say once${round}`, other);
      await cut;
      await owner.killAll();
      if (owner.storeProxy) owner.storeProxy.mode = "pass";
      await store.endLease(owner);
      await store.takenFrom(owner, [id]);
      await owner.start();
    }
    await checkInvariants(client);
  }, 120_000);

  test("accepts the first of two answers, on any node, also while the session moves", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const answer = (node: FleetNode, approvalId: string, decision: typeof ACCEPT | typeof DECLINE) =>
      client
        .repeat(node, (api) => api.answer(approvalId, decision))
        .then(
          () => "accepted",
          (error: unknown) => (DaemonClientError.is(error) ? error.code : String(error)),
        );
    // A second attempt counts its own runs.
    const [stillName, movingName] = [`still${randomUUID()}`, `moving${randomUUID()}`];
    const still = await ask(client, stillName);
    const moving = await ask(client, movingName);
    const outcomes = await Promise.all([
      answer(fleet.node(1), still.approvalId, ACCEPT),
      answer(fleet.node(2), still.approvalId, DECLINE),
    ]);
    expect(outcomes.toSorted()).toEqual(["accepted", "already_answered"]);
    // Both sessions may have the owner that is killed next.
    await client.event(still.sessionId, isEnd, 0);
    const owner = await store.owner(moving.sessionId);
    const others = fleet.nodes.filter((node) => node !== owner);
    await owner.killAll();
    await store.endLease(owner);
    const [first = owner, second = owner] = others;
    const whileMoving = await Promise.all([
      answer(first, moving.approvalId, ACCEPT),
      answer(second, moving.approvalId, DECLINE),
    ]);
    expect(whileMoving.toSorted()).toEqual(["accepted", "already_answered"]);
    await client.event(moving.sessionId, isEnd, 0);
    await owner.start();
    await checkInvariants(client);
    expect(await timesRun(`${stillName}-0`)).toBe(outcomes[0] === "accepted" ? 1 : 0);
    expect(await timesRun(`${movingName}-0`)).toBe(whileMoving[0] === "accepted" ? 1 : 0);
  }, 120_000);

  test("does not use an outdated history when a session returns to a node", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { id } = await client.create();
    for (let move = 0; move < 3; move += 1) {
      await client.finished(await client.send(id, `run there${move}`));
      const owner = await store.owner(id);
      await client.send(id, `hold cut${move}`, owner);
      await fleet.model.findRequest(({ lastUserText }) => lastUserText === `hold cut${move}`);
      await owner.killAll();
      await store.endLease(owner);
      await store.takenFrom(owner, [id]);
      await owner.start();
      fleet.script.gate(`cut${move}`).open();
      await client.idle(id);
    }
    const { items } = await checkInvariants(client);
    expect(items).toBeGreaterThan(5);
  }, 120_000);

  test("keeps the history of forks, reverted turns and agents complete after a takeover", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { id } = await client.create();
    await client.finished(await client.send(id, "run base"));
    await client.idle(id);
    const fork = await client.fork(id);
    await client.finished(await client.send(fork.id, "run branch"));
    await client.idle(fork.id);
    const agents = await client.create();
    await client.send(agents.id, "agent parent");
    await client.event(
      agents.id,
      (event) => event.type === "turn.completed" && event.threadId === agents.threadId,
    );
    const reverted = await client.create();
    await client.finished(await client.send(reverted.id, "say kept"));
    await client.idle(reverted.id);
    await client.revert(await client.send(reverted.id, "say dropped"));
    for (const session of client.sessions) {
      const owner = await store.currentOwner(session.id);
      await owner?.killAll();
      await owner?.start();
    }
    await checkInvariants(client);
    const check = fleet.model.requests.findLast(({ input }) => JSON.stringify(input).includes('"say kept"'));
    expect(JSON.stringify(check?.input)).not.toContain("dropped");
  }, 120_000);

  test("continues an agent with its history after a takeover", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { id, threadId } = await store.createOn(fleet.node(0));
    await client.send(id, "agent known");
    await client.event(id, (event) => event.type === "turn.completed" && event.threadId === threadId);
    await client.idle(id);
    await fleet.node(0).killAll();
    await store.endLease(fleet.node(0));
    await client.finished(await client.send(id, "tell known"));
    await client.idle(id);
    const again = fleet.model.requests.find(({ lastUserText }) => lastUserText === "run again-known");
    expect(again?.output("child-known-0")?.text).toMatch("ran child-known-0");
    expect(await timesRun("again-known-0")).toBe(1);
  }, 120_000);

  test("owns no more sessions of a tenant at the same time than its limit", async () => {
    await using admin = new FleetClient(fleet);
    await using store = await FleetStore.open(admin);
    const { tenants, tokens } = store.database;
    await tenants.put("limited", { maxActive: 2, maxWaiting: null, weight: 1 }, "test");
    const scopes = ["read", "write"] as const;
    const { token } = await tokens.create({ name: "limited", scopes, tenant: "limited", by: "test" });
    await store.watchTenants();
    await using client = new FleetClient(fleet, { token });
    await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const node = fleet.node(index % NODES.length);
        const { id } = await client.create({}, node);
        await client.finished(await client.send(id, `run limited${index}`, node));
      }),
    );
    await checkInvariants(client);
    expect(await store.mostOwned("limited")).toBe(2);
  }, 120_000);

  // The nodes are really replaced. That days pass is simulated: all times of the session are moved into the past.
  test("continues a parked approval correctly after all nodes were replaced and days have passed", async () => {
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { sessionId, approvalId } = await ask(client, "later");
    const former = await store.owner(sessionId);
    await Promise.all(fleet.nodes.map((node) => node.stop()));
    for (const node of fleet.nodes) expect(await node.processes()).toEqual([]);
    await store.shift(sessionId, DAYS_MS);
    const others = fleet.nodes.filter((node) => node !== former);
    await Promise.all(others.map((node) => node.start()));
    const [next = former] = others;
    await client.repeat(next, (api) => api.answer(approvalId, ACCEPT));
    const delivered = await client.event(sessionId, ({ type }) => type === "inbox.delivered");
    expect(delivered).toMatchObject({ strategy: "inject" });
    const answered = await client.event(sessionId, ({ type }) => type === "inbox.answered");
    await client.event(sessionId, ({ type }) => type === "turn.completed", answered.seq);
    await former.start();
    await checkInvariants(client);
    expect(await timesRun("later-0")).toBe(1);
  }, 120_000);
});

describe("a fleet with the default times", () => {
  const databases = useDatabases("postgres");

  test("restarts node after node under load without an interrupted turn or a failed request", async () => {
    await using fleet = await Fleet.start({
      nodes: NODES,
      kind: "postgres",
      locations: databases.locations,
      times: DEFAULT_TIMES,
    });
    await using client = new FleetClient(fleet, { routesByReadiness: true });
    const sessions = await Promise.all(
      fleet.nodes.flatMap((node) => [client.create({}, node), client.create({}, node)]),
    );
    const load = new AbortController();
    let count = 0;
    const loads = sessions.map(async ({ id }) => {
      while (!load.signal.aborted) {
        count += 1;
        const { result } = await client.finished(await client.send(id, `long load${count}`));
        await client.event(
          id,
          (event) => isEnd(event) && "turnId" in event && event.turnId === result?.["turnId"],
        );
      }
    });
    for (const node of fleet.nodes) {
      await node.stop();
      await node.start();
    }
    load.abort();
    await Promise.all(loads);
    await checkInvariants(client);
    const events = client.readers.flatMap(({ events: of }) => of);
    expect(events.filter((event: SessionEvent) => isEnd(event) && event.type !== "turn.completed")).toEqual(
      [],
    );
    expect(client.problems).toEqual([]);
  }, 120_000);
});
