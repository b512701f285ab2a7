import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import { allEvents, newSession, SETTINGS, useDatabases } from "../../test/database-fixture.ts";
import type { Database } from "../database.ts";
import { importSession } from "./import-session.ts";
import type { SessionFileLine } from "./session-file.ts";
import { StagedSession } from "./staged-session.ts";

const OPTIONS = { cwd: "/work", needs: [], nodeName: "here", maxSessions: 100, by: "tester" };
const EVENTS = 1200;

function* sessionLines({ threadId = "thread", events = EVENTS } = {}): Generator<SessionFileLine> {
  yield {
    kind: "session",
    format: 1,
    codexVersion: null,
    session: {
      id: "former",
      threadId,
      name: "moved",
      cwd: "/work",
      settings: SETTINGS,
      setup: {},
      goal: null,
      preview: "",
      usage: null,
      archivedAt: null,
      createdAt: 1,
      epoch: 3,
      firstSeq: 1,
      mergedSeq: 0,
      lastSeq: events,
    },
  };
  for (let seq = 1; seq <= events; seq += 1) {
    const data = JSON.stringify({ kind: "server", message: `event ${seq}` });
    yield { kind: "event", seq, epoch: 3, at: seq, type: "warning", turn_id: null, item_id: null, data };
  }
  const path = `sessions/2026/11/16/rollout-2026-11-16T15-25-44-${threadId}.jsonl`;
  yield { kind: "rollout", id: threadId, path, baseId: null, role: "main", bytes: 3 };
  yield { kind: "data", base64: Buffer.from("{}\n").toString("base64") };
}

async function* toAsync(
  lines: Iterable<SessionFileLine>,
  before: (count: number) => Promise<void> | void = () => {},
): AsyncGenerator<SessionFileLine> {
  let count = 0;
  for (const line of lines) {
    await before((count += 1));
    yield line;
  }
}

/** How many rows there are of sessions without a row of their own. */
async function countRemains({ store }: Database): Promise<number> {
  let total = 0;
  for (const table of [
    "event",
    "item",
    "turn",
    "session_rollout",
    "rollout",
    "rollout_chunk",
    "import",
  ] as const) {
    const { count } = await store.db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    total += count;
  }
  return total;
}

describe.each(STORE_KINDS)("an import on %s", (kind) => {
  const databases = useDatabases(kind);

  test("lets other changes through between its parts, and is visible only at its end", async () => {
    await using database = await databases.open();
    const seen: string[][] = [];
    const session = await importSession(
      database,
      toAsync(sessionLines(), async (count) => {
        if (count !== EVENTS) return;
        await database.sessions.insert(newSession({ name: "other" }));
        seen.push((await database.sessions.list()).rows.map(({ name }) => name ?? ""));
      }),
      OPTIONS,
    );
    expect(seen).toEqual([["other"]]);
    const events = await allEvents(database, session.id);
    expect(events).toHaveLength(EVENTS + 1);
    expect(events.at(-1)).toMatchObject({ type: "session.moved" });
    expect((await database.sessions.list()).rows.map(({ name }) => name)).toContain("moved");
    expect(Buffer.from((await database.rollouts.read("thread")) ?? []).toString()).toBe("{}\n");
  });

  test("that fails in the middle leaves nothing behind, and can be repeated", async () => {
    await using database = await databases.open();
    const broken = toAsync(sessionLines(), (count) => {
      if (count === EVENTS) throw new Error("The file ends here.");
    });
    await expect(importSession(database, broken, OPTIONS)).rejects.toThrow("ends here");
    expect(await countRemains(database)).toBe(0);
    await importSession(database, toAsync(sessionLines()), OPTIONS);
    await expect(importSession(database, toAsync(sessionLines()), OPTIONS)).rejects.toMatchObject({
      code: "thread_in_use",
    });
  });

  test("that a killed daemon has left is removed by its next start, and not by another node's", async () => {
    await using database = await databases.open();
    const staged = await StagedSession.begin(database, { ...OPTIONS, threadId: "thread" });
    await staged.write(async (trx) => {
      await trx
        .insertInto("event")
        .values({
          session_id: staged.sessionId,
          seq: 7001,
          epoch: 0,
          at: 0,
          type: "warning",
          turn_id: null,
          item_id: null,
          data: "{}",
        })
        .execute();
      await database.rollouts.append(
        trx,
        { sessionId: staged.sessionId, epoch: 0, nodeId: "" },
        { rolloutId: "thread", path: "sessions/a", role: "main", atByte: 0, data: Buffer.from("x") },
      );
    });
    const again = importSession(database, toAsync(sessionLines()), OPTIONS);
    await expect(again).rejects.toMatchObject({ code: "thread_in_use" });
    expect(await StagedSession.cleanUp(database, "elsewhere")).toBe(0);
    expect(await countRemains(database)).toBe(5);
    expect(await StagedSession.cleanUp(database, "here")).toBe(1);
    expect(await countRemains(database)).toBe(0);
  });

  test("takes no more sessions than allowed", async () => {
    await using database = await databases.open();
    await database.sessions.insert(newSession());
    await expect(
      importSession(database, toAsync(sessionLines({ events: 1 })), { ...OPTIONS, maxSessions: 1 }),
    ).rejects.toMatchObject({ code: "too_many_sessions" });
  });
});
