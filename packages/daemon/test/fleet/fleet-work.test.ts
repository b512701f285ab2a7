// Work that moves between nodes: approvals, messages, forks, and a rolling restart.
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../src/api/event.ts";
import { DaemonClientError } from "../../src/client/errors.ts";
import { useDatabases } from "../database-fixture.ts";
import { askForApproval as ask } from "./ask-for-approval.ts";
import { checkInvariants, isEnd } from "./check-invariants.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";
import { FleetStore } from "./fleet-store.ts";

const ACCEPT = { type: "decision", offer: "accept" } as const;
const DECLINE = { type: "decision", offer: "decline" } as const;

describe("a fleet", () => {
  const databases = useDatabases("postgres");
  const start = (nodes: readonly string[]) =>
    Fleet.start({ nodes, kind: "postgres", locations: databases.locations });

  test("sends a message once if its node dies between the call to Codex and storing its result", async () => {
    await using fleet = await start(["a", "b"]);
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
      await store.takenFrom(owner, [id]);
      await owner.start();
    }
    await checkInvariants(client);
  }, 120_000);

  test("accepts the first of two answers, on any node, also while the session moves", async () => {
    await using fleet = await start(["a", "b", "c"]);
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const answer = (node: FleetNode, approvalId: string, decision: typeof ACCEPT | typeof DECLINE) =>
      client
        .repeat(node, (api) => api.answer(approvalId, decision))
        .then(
          () => "accepted",
          (error: unknown) => (DaemonClientError.is(error) ? error.code : String(error)),
        );
    const still = await ask(client, "still");
    const moving = await ask(client, "moving");
    const outcomes = await Promise.all([
      answer(fleet.node(1), still.approvalId, ACCEPT),
      answer(fleet.node(2), still.approvalId, DECLINE),
    ]);
    expect(outcomes.toSorted()).toEqual(["accepted", "already_answered"]);
    const owner = await store.owner(moving.sessionId);
    const others = fleet.nodes.filter((node) => node !== owner);
    await owner.killAll();
    const [first = owner, second = owner] = others;
    const whileMoving = await Promise.all([
      answer(first, moving.approvalId, ACCEPT),
      answer(second, moving.approvalId, DECLINE),
    ]);
    expect(whileMoving.toSorted()).toEqual(["accepted", "already_answered"]);
    await client.event(moving.sessionId, isEnd, 0);
    await checkInvariants(client);
    const acts = await fleet.actLines();
    const ran = (call: string) => acts.filter((line) => line.endsWith(` ${call}`)).length;
    expect(ran("still-0")).toBe(outcomes[0] === "accepted" ? 1 : 0);
    expect(ran("moving-0")).toBe(whileMoving[0] === "accepted" ? 1 : 0);
  }, 120_000);

  test("does not use an outdated history when a session returns to a node", async () => {
    await using fleet = await start(["a", "b"]);
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { id } = await client.create();
    for (let move = 0; move < 3; move += 1) {
      await client.finished(await client.send(id, `run there${move}`));
      const owner = await store.owner(id);
      await client.send(id, `hold cut${move}`, owner);
      await fleet.model.findRequest(({ lastUserText }) => lastUserText === `hold cut${move}`);
      await owner.killAll();
      await store.takenFrom(owner, [id]);
      await owner.start();
      fleet.script.gate(`cut${move}`).open();
      await client.idle(id);
    }
    const { items } = await checkInvariants(client);
    expect(items).toBeGreaterThan(5);
  }, 120_000);

  test("keeps the history of forks, reverted turns and agents complete after a takeover", async () => {
    await using fleet = await start(["a", "b"]);
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

  test("restarts node after node under load without an interrupted turn or a failed request", async () => {
    await using fleet = await start(["a", "b", "c"]);
    await using client = new FleetClient(fleet);
    const sessions = await Promise.all(
      fleet.nodes.flatMap((node) => [client.create({}, node), client.create({}, node)]),
    );
    const load = new AbortController();
    let count = 0;
    const loads = sessions.map(async ({ id }) => {
      while (!load.signal.aborted) {
        count += 1;
        await client.finished(await client.send(id, `stream load${count}`));
      }
    });
    for (const node of fleet.nodes) await client.restartGracefully(node);
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
