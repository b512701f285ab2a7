// Several nodes claim sessions concurrently, without Codex.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClaimedSession } from "../../src/database/ownership.ts";
import { type Database, openDatabase } from "../../src/database.ts";
import { newSession, NODE, useDatabases } from "../database-fixture.ts";

const SESSIONS = 1_000;
const LIMIT = 25;

interface Claimer {
  readonly database: Database;
  readonly nodeId: string;
  readonly name: string;
}

describe("nodes that claim concurrently", () => {
  const databases = useDatabases("postgres");
  const open = new AsyncDisposableStack();
  let location = "";
  let claimers: readonly Claimer[] = [];

  async function addNode(name: string): Promise<Claimer> {
    const database = open.use(await openDatabase(location));
    return { database, name, nodeId: await database.nodes.register({ ...NODE, name }) };
  }

  /** Repeats concurrent claims of all nodes until no session is left. */
  async function claimAll(nodes: readonly Claimer[]): Promise<readonly (readonly ClaimedSession[])[]> {
    const claimed = nodes.map((): ClaimedSession[] => []);
    for (let rounds = 0, got = 1; got > 0; rounds += 1) {
      const round = await Promise.all(
        nodes.map(({ database, nodeId, name }) =>
          database.sessions.claim({
            nodeId,
            name,
            limit: LIMIT,
            labels: [],
            codexVersion: NODE.codexVersion,
          }),
        ),
      );
      for (const [index, sessions] of round.entries()) claimed[index]?.push(...sessions);
      got = round.flat().length;
      // If only one node got sessions in each round, there would be as many rounds as with a single node.
      expect(rounds).toBeLessThanOrEqual((1.5 * SESSIONS) / (LIMIT * nodes.length));
    }
    return claimed;
  }

  function checkSpread(claimed: readonly (readonly ClaimedSession[])[]): void {
    const counts = claimed.map((sessions) => sessions.length);
    const ids = claimed.flat().map(({ sessionId }) => sessionId);
    expect(ids).toHaveLength(SESSIONS);
    expect(new Set(ids).size).toBe(SESSIONS);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2 * Math.min(...counts));
  }

  beforeAll(async () => {
    location = await databases.location();
    claimers = [await addNode("first"), await addNode("second")];
    const inserts = Array.from({ length: SESSIONS }, () => newSession());
    const { database } = await addNode("inserter");
    await database.nodes.retire((await database.nodes.list())[0]?.id ?? "");
    for (let at = 0; at < SESSIONS; at += 50) {
      await Promise.all(inserts.slice(at, at + 50).map((session) => database.sessions.insert(session)));
    }
  });

  afterAll(() => open.disposeAsync());

  test("claim each session once, and similar numbers of sessions", async () => {
    checkSpread(await claimAll(claimers));
  });

  test("take over each session of lost nodes once, in similar numbers", async () => {
    for (const { database, nodeId } of claimers) await database.nodes.retire(nodeId);
    const successors = await Promise.all(["a", "b", "c", "d"].map((name) => addNode(name)));
    const claimed = await claimAll(successors);
    checkSpread(claimed);
    expect(new Set(claimed.flat().map(({ reason }) => reason))).toEqual(new Set(["node_lost"]));
    expect(new Set(claimed.flat().map(({ epoch }) => epoch))).toEqual(new Set([2]));
  });
});
