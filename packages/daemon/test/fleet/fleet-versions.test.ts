// Nodes of several versions, and a store that loses acknowledged data.
//
// There is only one version of the daemon to test with, so the difference is simulated: the test itself changes the schema of a
// running fleet in the way that a migration of a newer release may (it adds a column and an index), and both nodes run the same
// program. Codex versions are only numbers that the test registers. That a real older release runs next to this one is not tested.
import { sql } from "kysely";
import { execFile } from "node:child_process";
import { chmod, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { tempFolder } from "@codexkit/testing";
import { PostgresServer } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import { DaemonClientError } from "../../src/client/errors.ts";
import { newSession, NODE, useDatabases } from "../database-fixture.ts";
import { PostgresDisk } from "../postgres-disk.ts";
import { checkInvariants } from "./check-invariants.ts";
import { Fleet } from "./fleet.ts";
import { FleetClient } from "./fleet-client.ts";
import { FleetStore } from "./fleet-store.ts";

const execute = promisify(execFile);

describe("two nodes of simulated different versions", () => {
  const databases = useDatabases("postgres");

  test("both serve requests during and after a simulated migration that adds a column and an index", async () => {
    await using fleet = await Fleet.start({
      nodes: ["a", "b"],
      kind: "postgres",
      locations: databases.locations,
    });
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { db } = store.database.store;
    const sessions = await Promise.all(fleet.nodes.map((node) => client.create({}, node)));
    const held = await Promise.all(
      sessions.map(({ id }, index) => client.send(id, `hold version${index}`, fleet.node(index))),
    );
    // As the migrations of a newer release do when its first node starts.
    await sql`alter table session add column newer text null`.execute(db);
    await sql`create index newer_index on session (newer)`.execute(db);
    for (const [index, message] of held.entries()) {
      fleet.script.gate(`version${index}`).open();
      await client.finished(message);
    }
    await checkInvariants(client);
  }, 120_000);

  test("claim a session only if their Codex is not older than the one that has written its thread", async () => {
    await using database = await databases.open();
    const { session } = await database.sessions.insert(newSession());
    const claim = async (name: string, codexVersion: string) => {
      const nodeId = await database.nodes.register({ ...NODE, name, codexVersion });
      const claimed = await database.sessions.claim({ nodeId, name, limit: 10, labels: [], codexVersion });
      return { nodeId, claimed };
    };
    const newer = await claim("newer", "0.167.0");
    const [owned] = newer.claimed;
    expect(owned?.sessionId).toBe(session.id);
    if (owned) await database.sessions.update(owned, { codexVersion: "0.167.0" });
    await database.nodes.retire(newer.nodeId);
    expect((await claim("older", "0.166.0")).claimed).toEqual([]);
    expect((await claim("next", "0.167.1")).claimed).toMatchObject([{ reason: "node_lost", epoch: 2 }]);
  });
});

describe("a store that was reset to an older state", () => {
  test("receives the acknowledged events again, or reports them as missing", async () => {
    await using folder = await tempFolder("rewound");
    // Postgres runs as another user if the tests run as root.
    await chmod(folder.path, 0o755);
    const [data, copy] = [join(folder.path, "data"), join(folder.path, "copy")];
    await using server = await PostgresServer.start({ folder: data, durable: true });
    await using fleet = await Fleet.start({
      nodes: ["a", "b"],
      kind: "postgres",
      locations: { create: () => server.createDatabase() },
    });
    await using client = new FleetClient(fleet, { restartsReaders: true });
    const { id } = await client.create();
    await client.finished(await client.send(id, "say kept"));
    await client.idle(id);
    await server.stop();
    await execute("cp", ["-a", data, copy]);
    await server.restart();
    await client.finished(await client.send(id, "run lost"));
    await client.idle(id);
    const { lastSeq } = await client.session(id);
    await server.stop();
    await rm(data, { recursive: true });
    await rename(copy, data);
    await server.restart();
    const after = await client.send(id, "say after");
    await client.finished(after);
    await client.idle(id);
    const events = await client.storedEvents(id);
    const last = events.at(-1)?.seq ?? 0;
    expect(last).toBeGreaterThan(lastSeq);
    const gaps = events.flatMap((event) => (event.type === "gap" ? [event.reason] : []));
    const isWhole = events.some((event) => event.type === "item.completed" && event.item.id === "lost-0");
    expect(isWhole || gaps.includes("store_rewound")).toBe(true);
    // No reader received two different events with the same sequence number.
    for (const reader of client.readers) {
      const seen = new Map<number, string>();
      for (const { seq, type } of reader.events) {
        expect(seen.get(seq) ?? type).toBe(type);
        seen.set(seq, type);
      }
    }
  }, 120_000);
});

describe("a full disk", () => {
  test("refuses commands with store_full, and continues without loss once there is space", async () => {
    await using disk = await PostgresDisk.start();
    await using fleet = await Fleet.start({
      nodes: ["a", "b"],
      kind: "postgres",
      locations: { create: () => disk.server.createDatabase() },
    });
    await using client = new FleetClient(fleet);
    await using store = await FleetStore.open(client);
    const { id } = await client.create();
    await client.send(id, "hold full");
    await client.event(id, ({ type }) => type === "item.delta");
    await disk.fill(store.database);
    const refused = await fleet
      .client(fleet.node(0))
      .send(id, "say refused")
      .catch((error: unknown) => error);
    expect(DaemonClientError.is(refused) && refused.code).toBe("store_full");
    fleet.script.gate("full").open();
    await disk.free();
    await checkInvariants(client);
  }, 120_000);
});
