import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, it } from "vitest";
import { allEvents, newSession, NODE, ownedSession, useDatabases } from "../../test/database-fixture.ts";
import type { Database } from "../database.ts";
import type { ClaimedSession } from "../database/ownership.ts";
import type { ClaimOptions } from "./claim-sessions.ts";

const CLAIM = { name: NODE.name, limit: 100, labels: [], codexVersion: NODE.codexVersion };

async function insert(
  database: Database,
  name: string,
  more: Parameters<typeof newSession>[0] = {},
): Promise<string> {
  const { session } = await database.sessions.insert(newSession({ name, ...more }));
  return session.id;
}

/** Gives a session something to do. */
async function submit(database: Database, sessionId: string): Promise<void> {
  await database.commands.submit({ sessionId, key: crypto.randomUUID(), kind: "compact", body: {}, by: "x" });
}

async function setTenant(
  database: Database,
  id: string,
  more: { max_active?: number; weight?: number },
): Promise<void> {
  await database.store.db
    .insertInto("tenant")
    .values({ id, max_active: null, max_waiting: null, weight: 1, ...more })
    .execute();
}

/** Ends a lease by the clock, as if its node had not renewed it. */
async function expire(database: Database, nodeId: string): Promise<void> {
  await database.store.db.updateTable("node").set({ lease_until: 1 }).where("id", "=", nodeId).execute();
}

describe.each(STORE_KINDS)("claims on %s", (kind) => {
  const databases = useDatabases(kind);
  const register = (database: Database, name: string) => database.nodes.register({ ...NODE, name });

  /** Claims one session after the other, and returns their names in this order. */
  async function namesInOrder(
    database: Database,
    options: Partial<ClaimOptions> = {},
  ): Promise<(string | null)[]> {
    const nodeId = await register(database, options.name ?? NODE.name);
    const names: (string | null)[] = [];
    for (;;) {
      const [claimed] = await database.sessions.claim({ ...CLAIM, nodeId, ...options, limit: 1 });
      if (!claimed) return names;
      names.push(claimed.session.name);
    }
  }

  it("let the tenants take turns, those with more weight more often", async () => {
    await using database = await databases.open();
    await setTenant(database, "b", { weight: 2 });
    for (const name of ["a1", "a2", "a3"]) await insert(database, name, { tenantId: "a" });
    for (const name of ["b1", "b2", "b3", "b4"]) await insert(database, name, { tenantId: "b" });
    const nodeId = await register(database, NODE.name);
    const first = await database.sessions.claim({ ...CLAIM, nodeId, limit: 3 });
    const names = (sessions: readonly ClaimedSession[]): Set<string | null> =>
      new Set(sessions.map(({ session }) => session.name));
    expect(names(first)).toEqual(new Set(["a1", "b1", "b2"]));
    const second = await database.sessions.claim({ ...CLAIM, nodeId, limit: 3 });
    expect(names(second)).toEqual(new Set(["a2", "b3", "b4"]));
  });

  it("take the sessions of a tenant by priority, then by their time", async () => {
    await using database = await databases.open();
    await insert(database, "first");
    await insert(database, "urgent", { priority: 10 });
    await insert(database, "late", { priority: -1 });
    await insert(database, "second");
    const order = await namesInOrder(database);
    expect([order[0], order.at(-1)]).toEqual(["urgent", "late"]);
    expect(order).toHaveLength(4);
  });

  it("never exceed the limit of a tenant, whichever nodes claim at once, and go on when there is room", async () => {
    await using database = await databases.open();
    await setTenant(database, "small", { max_active: 3 });
    for (let count = 0; count < 12; count += 1) await insert(database, `s${count}`, { tenantId: "small" });
    for (let count = 0; count < 4; count += 1) await insert(database, `o${count}`, { tenantId: "other" });
    const claims = await Promise.all(
      ["a", "b", "c", "d"].map(async (name) => {
        const nodeId = await register(database, name);
        return database.sessions.claim({ ...CLAIM, nodeId, name });
      }),
    );
    const all = claims.flat();
    const small = all.filter(({ session }) => session.tenant_id === "small");
    expect(small).toHaveLength(3);
    expect(all.map(({ isLimited }) => isLimited).filter(Boolean)).toHaveLength(3);
    const [first] = small;
    if (!first) return;
    await database.sessions.release(first);
    const nodeId = await register(database, "e");
    const next = await database.sessions.claim({ ...CLAIM, nodeId, name: "e" });
    expect(next.filter(({ session }) => session.tenant_id === "small")).toHaveLength(1);
  });

  it("leave a session for a while to the node that had it last, unless that one takes no sessions", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database, { name: "first" });
    await database.sessions.release(owner);
    await submit(database, owner.sessionId);
    const nodeId = await register(database, "second");
    const claim = (affinityMs: number) =>
      database.sessions.claim({ ...CLAIM, nodeId, name: "second", affinityMs });
    expect(await claim(3_600_000)).toEqual([]);
    await database.nodes.renew(owner.nodeId, { state: "draining" });
    expect(await claim(3_600_000)).toMatchObject([{ previousNode: "first", reason: "ready" }]);
    expect((await allEvents(database, owner.sessionId)).at(-1)).toMatchObject({
      type: "session.moved",
      from: "first",
      to: "second",
      reason: "drain",
    });
  });

  it("take over sessions of a lost node with permission only, and only those with work", async () => {
    await using database = await databases.open();
    const [busy, idle] = [
      await ownedSession(database, { name: "lost" }),
      await ownedSession(database, { name: "lost" }),
    ];
    await submit(database, busy.sessionId);
    for (const { nodeId } of [busy, idle]) await expire(database, nodeId);
    const nodeId = await register(database, "other");
    const claim = (mayTakeOver: boolean) =>
      database.sessions.claim({ ...CLAIM, nodeId, name: "other", mayTakeOver });
    expect(await claim(false)).toEqual([]);
    expect(await claim(true)).toMatchObject([
      { sessionId: busy.sessionId, reason: "node_lost", previousNode: "lost" },
    ]);
    // Without work, it waits for a node like any other.
    await submit(database, idle.sessionId);
    expect(await database.sessions.require(idle.sessionId)).toMatchObject({ node_id: null });
    expect(await claim(false)).toMatchObject([
      { sessionId: idle.sessionId, reason: "ready", previousNode: "lost" },
    ]);
  });

  it("know after a takeover that the tenant is limited, so that the session makes room when it is idle", async () => {
    await using database = await databases.open();
    await setTenant(database, "small", { max_active: 1 });
    const lost = await ownedSession(database, { name: "lost", tenantId: "small" });
    await submit(database, lost.sessionId);
    await expire(database, lost.nodeId);
    const nodeId = await register(database, "other");
    expect(await database.sessions.claim({ ...CLAIM, nodeId, name: "other" })).toMatchObject([
      { sessionId: lost.sessionId, reason: "node_lost", isLimited: true },
    ]);
  });

  it("don't count sessions without work that a lost node has left behind", async () => {
    await using database = await databases.open();
    await setTenant(database, "small", { max_active: 1 });
    const idle = await ownedSession(database, { name: "lost", tenantId: "small" });
    const next = await insert(database, "next", { tenantId: "small" });
    const nodeId = await register(database, "other");
    const claim = () => database.sessions.claim({ ...CLAIM, nodeId, name: "other" });
    expect(await claim()).toEqual([]);
    await expire(database, idle.nodeId);
    expect(await claim()).toMatchObject([{ sessionId: next }]);
  });

  it("apply the limit of a tenant to a session that a lost node has left behind, when it gets work", async () => {
    await using database = await databases.open();
    await setTenant(database, "small", { max_active: 1 });
    const idle = await ownedSession(database, { name: "lost", tenantId: "small" });
    await expire(database, idle.nodeId);
    const next = await insert(database, "next", { tenantId: "small" });
    const nodeId = await register(database, "other");
    const claim = () => database.sessions.claim({ ...CLAIM, nodeId, name: "other" });
    const [owner] = await claim();
    expect(owner).toMatchObject({ sessionId: next });
    await submit(database, idle.sessionId);
    expect(await claim()).toEqual([]);
    if (owner) await database.sessions.release(owner);
    expect(await claim()).toMatchObject([{ session: { tenant_id: "small" } }]);
  });

  it("find the sessions of a lost node that can move behind those that can't", async () => {
    await using database = await databases.open();
    const owners = [];
    for (let count = 0; count < 5; count += 1) {
      const owner = await ownedSession(database, { name: "lost", priority: 10 });
      await database.sessions.update(owner, { needs: ["node:lost"] });
      owners.push(owner);
    }
    owners.push(await ownedSession(database, { name: "lost" }));
    for (const { sessionId, nodeId } of owners) {
      await submit(database, sessionId);
      await expire(database, nodeId);
    }
    const nodeId = await register(database, "other");
    const claimed = await database.sessions.claim({ ...CLAIM, nodeId, name: "other", limit: 1 });
    expect(claimed.map(({ sessionId }) => sessionId)).toEqual([owners.at(-1)?.sessionId]);
  });
});

describe("a takeover on Postgres", () => {
  const databases = useDatabases("postgres");

  it("and a renewal of the lost node are in one order: the renewal waits, and then sees the takeover", async () => {
    await using database = await databases.open();
    const lost = await ownedSession(database, { name: "lost" });
    await submit(database, lost.sessionId);
    await expire(database, lost.nodeId);
    const nodeId = await database.nodes.register({ ...NODE, name: "other" });
    // A lock on the session holds the takeover up after its look at the lease.
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const claims: unknown[] = [];
    await database.store.db.transaction().execute(async (trx) => {
      await trx.selectFrom("node").select("id").where("id", "=", lost.nodeId).forShare().execute();
      const renewed = database.nodes.renew(lost.nodeId).then(() => claims.push("renewed"));
      const taken = await database.sessions.claim({ ...CLAIM, nodeId, name: "other" });
      claims.push("taken", taken.length);
      release();
      void renewed;
    });
    await held;
    await expect.poll(() => claims).toEqual(["taken", 1, "renewed"]);
    expect(await database.sessions.ownedBy(lost.nodeId)).toEqual([]);
  });
});

describe.each(STORE_KINDS)("stranded sessions on %s", (kind) => {
  const databases = useDatabases(kind);

  it("can be deleted by any node", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database, { name: "gone" });
    const { sessionId } = owner;
    await database.sessions.update(owner, { needs: ["node:gone"] });
    await submit(database, sessionId);
    await expire(database, owner.nodeId);
    const nodeId = await database.nodes.register({ ...NODE, name: "here", labels: ["node:here"] });
    expect(await database.sessions.strand({ waitedMs: 0 })).toBe(1);
    const claim = () => database.sessions.claim({ ...CLAIM, nodeId, labels: ["node:here"] });
    expect(await claim()).toEqual([]);
    await database.commands.submit({ sessionId, key: "delete", kind: "delete", body: {}, by: "x" });
    expect(await claim()).toMatchObject([{ sessionId }]);
  });

  it("report the labels that no node has, not the node of their folder if it is up", async () => {
    await using database = await databases.open();
    await database.nodes.register({ ...NODE, name: "here", labels: ["node:here", "ssd"] });
    await database.nodes.register({ ...NODE, name: "there", labels: ["node:there", "big"] });
    const problemOf = async (needs: readonly string[]) => {
      const id = await insert(database, JSON.stringify(needs), { needs });
      expect(await database.sessions.strand({ waitedMs: 0 })).toBe(1);
      return JSON.parse((await database.sessions.require(id)).problem ?? "null") as unknown;
    };
    expect(await problemOf(["gpu", "ssd"])).toMatchObject({
      missing: ["gpu"],
      detail: 'No running node has the label "gpu", which the session needs. Start a node that has it.',
    });
    expect(await problemOf(["node:here", "gpu", "ssd"])).toMatchObject({
      missing: ["gpu"],
      detail:
        'The folder of the session is on the node "here", which lacks the label "gpu". Start this node with it.',
    });
    expect(await problemOf(["ssd", "big"])).toMatchObject({
      detail:
        'No running node has all labels that the session needs: "ssd" and "big". Start a node that does.',
    });
  });

  it("include those that wait for a drained node", async () => {
    await using database = await databases.open();
    const nodeId = await database.nodes.register({ ...NODE, name: "here", labels: ["node:here"] });
    await database.nodes.renew(nodeId, { state: "draining" });
    const id = await insert(database, "waiting", { needs: ["node:here"] });
    expect(await database.sessions.strand({ waitedMs: 0 })).toBe(1);
    const { problem } = await database.sessions.require(id);
    expect(JSON.parse(problem ?? "null")).toMatchObject({
      node: "here",
      detail: 'The folder of the session is on the node "here", which is drained. Restart this node.',
    });
  });

  it("are those that no live node can run, and are adopted when one is back", async () => {
    await using database = await databases.open();
    const ownPinned = async () => {
      const owner = await ownedSession(database, { name: "gone" });
      await database.sessions.update(owner, { needs: ["node:gone"] });
      return owner;
    };
    const [pinned, idle] = [await ownPinned(), await ownPinned()];
    await submit(database, pinned.sessionId);
    for (const owner of [pinned, idle]) await expire(database, owner.nodeId);
    const waiting = await insert(database, "waiting", { needs: ["gpu"] });
    const movable = await insert(database, "movable");
    await database.nodes.register({ ...NODE, name: "here", labels: ["node:here"] });
    expect(await database.sessions.strand({ waitedMs: 3_600_000 })).toBe(0);
    expect(await database.sessions.strand({ waitedMs: 0 })).toBe(2);
    expect(await database.sessions.strand({ waitedMs: 0 })).toBe(0);
    const stranded = await database.sessions.require(pinned.sessionId);
    expect(stranded).toMatchObject({ phase: "stranded", node_id: pinned.nodeId });
    expect(stranded.problem).toContain('the node \\"gone\\", which is lost');
    expect((await allEvents(database, pinned.sessionId)).at(-1)).toMatchObject({
      type: "session.updated",
      changes: { phase: "stranded", problem: { type: "node_lost", node: "gone" } },
    });
    expect(await database.sessions.require(waiting)).toMatchObject({ phase: "stranded" });
    expect(await database.sessions.require(movable)).toMatchObject({ phase: "ready" });
    expect(await database.sessions.require(idle.sessionId)).toMatchObject({ phase: "idle" });
    const nodeId = await database.nodes.register({ ...NODE, name: "gone", labels: ["node:gone"] });
    const claimed = await database.sessions.claim({ ...CLAIM, nodeId, name: "gone", labels: ["node:gone"] });
    const adopted = claimed.find(({ sessionId }) => sessionId === pinned.sessionId);
    expect(adopted).toMatchObject({ reason: "restart", session: { phase: "ready", problem: null } });
    expect((await allEvents(database, pinned.sessionId)).slice(-2)).toMatchObject([
      { type: "session.moved", reason: "restart" },
      { type: "session.updated", changes: { phase: "ready", problem: null } },
    ]);
  });
});
