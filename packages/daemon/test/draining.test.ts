// A node that shuts down keeps listening until load balancers have noticed, so that no request is refused.
import { describe, expect, test } from "vitest";
import { FLEET_LIMITS } from "../src/fleet/limits.ts";
import { useDatabases } from "./database-fixture.ts";
import { startFleet, startNode } from "./fleet-fixture.ts";

const LONG_MS = 600_000;

const options = (drainListenMs: number) => ({ fleetLimits: { ...FLEET_LIMITS, drainListenMs } });

/** What a load balancer sees, on a connection of its own. */
async function readiness(url: string): Promise<number> {
  const response = await fetch(`${url}/ready`, { headers: { connection: "close" } });
  await response.body?.cancel();
  return response.status;
}

describe("a node that shuts down", () => {
  const databases = useDatabases("postgres");

  test("listens for the minimum time if another node is up, although its drain has ended", async () => {
    const listenMs = 1_500;
    await using fleet = await startFleet(databases, options(listenMs));
    const { session } = await fleet.a.client.createSession({ cwd: fleet.a.api.root }, { wait: 10_000 });
    const startedAt = performance.now();
    const closing = fleet.b.api.daemon.close();
    await expect.poll(() => fleet.b.api.runner.status.state).toBe("closed");
    expect(await readiness(fleet.b.url)).toBe(503);
    // The other node carries it out.
    const sent = await fleet.b.client.send(session.id, "hello");
    expect(sent.state).toBe("accepted");
    await closing;
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(listenMs - 1);
    await expect(readiness(fleet.b.url)).rejects.toThrow("fetch failed");
  });

  test("stops listening at once when it is told to stop waiting", async () => {
    await using fleet = await startFleet(databases, options(LONG_MS));
    const closing = fleet.b.api.daemon.close();
    await expect.poll(() => fleet.b.api.runner.status.state).toBe("closed");
    expect(await readiness(fleet.b.url)).toBe(503);
    // As a second signal does.
    await fleet.b.api.daemon.drain(0);
    await closing;
    await fleet.a.api.daemon.close({ drainMs: 0 });
  });

  test("stops listening with its drain if no other node is up", async () => {
    await using node = await startNode("alone", await databases.location(), options(LONG_MS));
    await node.api.daemon.close();
    await expect(readiness(node.url)).rejects.toThrow("fetch failed");
  });
});
