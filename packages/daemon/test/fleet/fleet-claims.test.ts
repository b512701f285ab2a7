// Several nodes claim sessions concurrently, without Codex.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClaimedSession } from "../../src/database/ownership.ts";
import { type Database, openDatabase } from "../../src/database.ts";
import { FLEET_LIMITS } from "../../src/fleet/limits.ts";
import { SessionClaims } from "../../src/sessions/session-claims.ts";
import { newSession, NODE, useDatabases } from "../database-fixture.ts";

const SESSIONS = 1_000;
/** Each node could own all sessions. */
const CAPACITY = SESSIONS;
const INTERVAL_MS = 50;

/** A node that claims sessions as a daemon does, but does not run them. */
class ClaimingNode implements AsyncDisposable {
  readonly claimed: ClaimedSession[] = [];
  readonly nodeId: string;
  readonly #database: Database;
  readonly #claims: SessionClaims;
  /** A daemon does not claim sessions while it starts. */
  readonly #lease: { readonly nodeId: string; mayClaim: boolean; readonly mayTakeOver: true };

  private constructor(database: Database, name: string, nodeId: string) {
    this.nodeId = nodeId;
    this.#database = database;
    const { claimed } = this;
    const lease = { nodeId, mayClaim: false, mayTakeOver: true } as const;
    this.#lease = lease;
    this.#claims = new SessionClaims({
      database,
      lease: this.#lease,
      name,
      labels: [],
      capacity: CAPACITY,
      claimMs: INTERVAL_MS,
      fleet: { ...FLEET_LIMITS, takeoverMs: INTERVAL_MS, maxEventLoopDelayMs: 60_000, minFreeMemory: 0 },
      log: { info: () => {}, warn: () => {}, error: () => {} },
      onChange: () => {},
      sessions: {
        get size() {
          return claimed.length;
        },
        has: (id) => claimed.some(({ sessionId }) => sessionId === id),
        add: (session) => {
          claimed.push(session);
        },
        releaseIdle: async () => {},
      },
    });
    this.#claims.start();
  }

  static async start(location: string, name: string): Promise<ClaimingNode> {
    const database = await openDatabase(location);
    return new ClaimingNode(database, name, await database.nodes.register({ ...NODE, name }));
  }

  startClaiming(): void {
    this.#lease.mayClaim = true;
    this.#claims.wake();
  }

  /** Ends without releasing its sessions, as if it had been killed a lease ago. */
  async lose(): Promise<void> {
    await this.#claims.stop();
    await this.#database.nodes.retire(this.nodeId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#claims.stop();
    await this.#database.close();
  }
}

describe("nodes that claim concurrently", () => {
  const databases = useDatabases("postgres");
  const open = new AsyncDisposableStack();
  let location = "";
  let nodes: readonly ClaimingNode[] = [];

  const start = async (names: readonly string[]): Promise<readonly ClaimingNode[]> =>
    Promise.all(names.map(async (name) => open.use(await ClaimingNode.start(location, name))));

  /**
   * Lets the nodes claim all sessions. Each is claimed once, and no node gets three times as many as another. A busy machine may run
   * the queries of one node before those of another.
   */
  async function claimAll(claiming: readonly ClaimingNode[]): Promise<readonly ClaimedSession[]> {
    for (const node of claiming) node.startClaiming();
    const all = (): readonly ClaimedSession[] => claiming.flatMap(({ claimed }) => claimed);
    await expect.poll(() => all().length).toBeGreaterThanOrEqual(SESSIONS);
    expect(new Set(all().map(({ sessionId }) => sessionId)).size).toBe(SESSIONS);
    expect(all()).toHaveLength(SESSIONS);
    const counts = claiming.map(({ claimed }) => claimed.length);
    expect(Math.max(...counts), `of ${counts.join(", ")}`).toBeLessThanOrEqual(3 * Math.min(...counts));
    return all();
  }

  beforeAll(async () => {
    location = await databases.location();
    nodes = await start(["first", "second"]);
    await using database = await openDatabase(location);
    for (let at = 0; at < SESSIONS; at += 50) {
      await Promise.all(Array.from({ length: 50 }, () => database.sessions.insert(newSession())));
    }
  });

  afterAll(() => open.disposeAsync());

  test("claim each session once, and similar numbers of sessions", async () => {
    await claimAll(nodes);
  });

  test("take over each session of lost nodes once, in similar numbers", async () => {
    for (const node of nodes) await node.lose();
    const claimed = await claimAll(await start(["a", "b", "c", "d"]));
    expect(new Set(claimed.map(({ reason }) => reason))).toEqual(new Set(["node_lost"]));
    expect(new Set(claimed.map(({ epoch }) => epoch))).toEqual(new Set([2]));
  });
});
