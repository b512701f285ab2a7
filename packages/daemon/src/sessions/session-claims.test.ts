import { say } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import { NODE, newSession, ownedSession, useDatabases } from "../../test/database-fixture.ts";
import { startRunner } from "../../test/start-runner.ts";
import type { Database } from "../database.ts";
import type { ClaimedSession } from "../database/ownership.ts";
import { FLEET_LIMITS } from "../fleet/limits.ts";
import { SessionClaims, type SessionClaimsDeps } from "./session-claims.ts";

/** Longer than a test. Rounds are started with `wake`. */
const NEVER_MS = 600_000;

/** The load of the machine that runs the tests does not matter. */
const FLEET = {
  ...FLEET_LIMITS,
  takeoverMs: NEVER_MS,
  maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
  minFreeMemory: 0,
};

/** Claims for a node without a runner. `owned` are the sessions that were handed to it. */
function startClaims(
  database: Database,
  node: { readonly name: string; readonly nodeId: string },
  more: Partial<Omit<SessionClaimsDeps, "lease" | "sessions">> & {
    readonly lease?: Partial<SessionClaimsDeps["lease"]>;
    readonly sessions?: SessionClaimsDeps["sessions"];
  } = {},
) {
  const owned = new Map<string, ClaimedSession>();
  const added: ClaimedSession[] = [];
  const lease = { nodeId: node.nodeId, mayClaim: true, mayTakeOver: true, ...more.lease };
  const claims = new SessionClaims({
    database,
    name: node.name,
    labels: [],
    capacity: 200,
    claimMs: NEVER_MS,
    fleet: FLEET,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    onChange: () => {},
    ...more,
    lease,
    sessions: more.sessions ?? {
      get size() {
        return owned.size;
      },
      has: (id) => owned.has(id),
      add: (session) => {
        added.push(session);
        owned.set(session.sessionId, session);
      },
      releaseIdle: async () => {},
    },
  });
  claims.start();
  return { owned, added, lease, claims, [Symbol.asyncDispose]: () => claims.stop() };
}

async function register(database: Database, name: string): Promise<{ name: string; nodeId: string }> {
  return { name, nodeId: await database.nodes.register({ ...NODE, name }) };
}

describe.each(STORE_KINDS)("a runner on %s", (kind) => {
  const databases = useDatabases(kind);
  const start = async (limits: object = {}) =>
    startRunner(() => say("hello"), {
      location: await databases.location(),
      limits: { claimMs: 50, retryMs: 50, ...limits },
      fleet: { ...FLEET_LIMITS, leaseMs: 3_000, freezeMs: 2_000, renewMs: 200, renewTimeoutMs: 500 },
    });

  test("claims a session again whose claim was committed while its response was lost", async () => {
    await using stage = await start();
    const { sessions } = stage.database;
    const claim = sessions.claim.bind(sessions);
    const replaced = Promise.withResolvers<void>();
    sessions.claim = async (options) => {
      replaced.resolve();
      const claimed = await claim(options);
      if (claimed.length === 0) return claimed;
      sessions.claim = claim;
      throw new Error("The response was lost.");
    };
    await replaced.promise;
    const session = await stage.create();
    expect(await session.send("hi")).toMatchObject({ ok: true });
    expect(await session.row()).toMatchObject({ node_id: stage.runner.status.nodeId, epoch: 2 });
  });

  test("claims a session again that it could not release", async () => {
    await using stage = await start({ sessionIdleMs: 100 });
    const { sessions } = stage.database;
    const release = sessions.release.bind(sessions);
    const failed = Promise.withResolvers<void>();
    sessions.release = async () => {
      sessions.release = release;
      failed.resolve();
      throw new Error("The store failed.");
    };
    const session = await stage.create();
    expect(await session.send("hi")).toMatchObject({ ok: true });
    await failed.promise;
    expect(await session.send("again")).toMatchObject({ ok: true });
  });
});

describe("a node of a fleet", () => {
  const databases = useDatabases("postgres");

  test("takes only its share of the sessions of a lost node at a time", async () => {
    await using database = await databases.open();
    for (let count = 0; count < 12; count += 1) {
      const { sessionId, nodeId } = await ownedSession(database, { name: "lost" });
      await database.commands.submit({ sessionId, key: "key", kind: "compact", body: {}, by: "x" });
      await database.store.db.updateTable("node").set({ lease_until: 1 }).where("id", "=", nodeId).execute();
    }
    // It locks sessions for a moment, which claims then leave out.
    database.sessions.strand = async () => 0;
    const { sessions } = database;
    const claim = sessions.claim.bind(sessions);
    const rounds: number[] = [];
    sessions.claim = async (options) => {
      const claimed = await claim(options);
      if (claimed.length > 0) rounds.push(claimed.length);
      return claimed;
    };
    await register(database, "b");
    await using a = startClaims(database, await register(database, "a"));
    await expect
      .poll(() => {
        a.claims.wake();
        return a.owned.size;
      })
      .toBe(12);
    expect(rounds).toEqual([6, 3, 2, 1]);
  });

  test("does not work on sessions that it claimed for a lease that has ended since", async () => {
    await using database = await databases.open();
    const former = await register(database, "a");
    const { session } = await database.sessions.insert(newSession());
    const { sessions } = database;
    const claim = sessions.claim.bind(sessions);
    await using node = startClaims(database, former, { lease: { mayClaim: false } });
    const next = await database.nodes.register({ ...NODE, name: "a" });
    sessions.claim = async (options) => {
      const claimed = await claim(options);
      node.lease.nodeId = next;
      sessions.claim = claim;
      node.claims.wake();
      return claimed;
    };
    node.lease.mayClaim = true;
    node.claims.wake();
    await expect.poll(() => node.owned.get(session.id)?.nodeId).toBe(next);
    expect(node.added).toMatchObject([{ epoch: 2 }]);
  });

  test("claims further sessions while a release takes long", async () => {
    await using database = await databases.open();
    const node = await register(database, "a");
    let size = 1;
    const releasing = Promise.withResolvers<void>();
    const added: string[] = [];
    await using stage = startClaims(database, node, {
      capacity: 1,
      sessions: {
        get size() {
          return size;
        },
        has: () => false,
        add: ({ sessionId }) => void added.push(sessionId),
        releaseIdle: () => {
          size = 0;
          return releasing.promise;
        },
      },
    });
    const { session } = await database.sessions.insert(newSession());
    stage.claims.wake();
    await expect.poll(() => added).toEqual([session.id]);
    releasing.resolve();
  });
});
