// Replaces all nodes of a fleet while an approval is open. Starts each node twice, which takes minutes on a busy machine.
import { describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { askForApproval as ask } from "./ask-for-approval.ts";
import { checkInvariants } from "./check-invariants.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import { FleetStore } from "./fleet-store.ts";

const ACCEPT = { type: "decision", offer: "accept" } as const;

describe("a fleet", () => {
  const databases = useDatabases("postgres");
  const start = (nodes: readonly string[]) =>
    Fleet.start({ nodes, kind: "postgres", locations: databases.locations });

  test("continues a parked approval correctly after all nodes were replaced", async () => {
    await using fleet = await start(["a", "b", "c"]);
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { sessionId, approvalId } = await ask(client, "later");
    const former = await store.owner(sessionId);
    await Promise.all(fleet.nodes.map((node) => node.stop()));
    for (const node of fleet.nodes) expect(await node.processes()).toEqual([]);
    const [next = former, ...others] = fleet.nodes.filter((node) => node !== former);
    await next.start();
    await client.repeat(next, (api) => api.answer(approvalId, ACCEPT));
    const delivered = await client.event(sessionId, ({ type }) => type === "inbox.delivered");
    expect(delivered).toMatchObject({ strategy: "inject" });
    await client.event(sessionId, (event) => event.type === "turn.completed", delivered.seq - 1);
    for (const node of [former, ...others]) if (node !== next) await node.start();
    await checkInvariants(client);
    expect((await fleet.actLines()).filter((line) => line.endsWith(" later-0"))).toHaveLength(1);
  }, 120_000);
});
