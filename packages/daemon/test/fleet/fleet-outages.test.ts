// Outages of Postgres. Most of the time the fleet waits for their end.
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { useDatabases } from "../database-fixture.ts";
import { checkInvariants, isEnd } from "./check-invariants.ts";
import { Fleet, FLEET_TIMES } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import { finishWork, startWork } from "./start-work.ts";

/** Shorter than those of the other tests, because an outage lasts for ten of them. */
const LEASE = { leaseMs: 2_000, renewMs: 200, renewTimeoutMs: 500, freezeMs: 1_200 };
const OUTAGES_MS = [2_000, 10 * LEASE.leaseMs];

describe("a fleet of three nodes", () => {
  const databases = useDatabases("postgres");

  test("moves no session while Postgres is down for 2 s or for ten leases", async () => {
    await using fleet = await Fleet.start({
      nodes: ["a", "b", "c"],
      kind: "postgres",
      locations: databases.locations,
      times: { ...FLEET_TIMES, fleet: { ...FLEET_TIMES.fleet, ...LEASE } },
    });
    await using client = new FleetClient(fleet);
    for (const outageMs of OUTAGES_MS) {
      const work = await startWork(client);
      await databases.locations.postgres.kill();
      await delay(outageMs);
      await databases.locations.postgres.restart();
      await finishWork(client, work);
      await checkInvariants(client);
    }
    const events = client.readers.flatMap((reader) => reader.events);
    expect(events.filter(({ type }) => type === "session.moved")).toEqual([]);
    expect(events.filter((event) => isEnd(event) && event.type !== "turn.completed")).toEqual([]);
  }, 180_000);
});
