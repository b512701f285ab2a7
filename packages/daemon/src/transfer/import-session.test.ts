import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import { allEvents, newSession, SETTINGS, useDatabases } from "../../test/database-fixture.ts";
import type { Database } from "../database.ts";
import type { ParkedProgress } from "../inbox/parked-inbox.ts";
import { importSession } from "./import-session.ts";
import type { LineOf, SessionFileLine } from "./session-file.ts";
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

function rolloutLines(
  id: string,
  baseId: string | null,
  more: Partial<LineOf<"rollout">> = {},
): SessionFileLine[] {
  const path = `sessions/2026/11/16/rollout-2026-11-16T15-25-44-${id}.jsonl`;
  return [
    { kind: "rollout", id, path, baseId, role: "agent", bytes: 3, ...more },
    { kind: "data", base64: Buffer.from("{}\n").toString("base64") },
  ];
}

/** An answered approval that is delivered when the session is loaded. */
function approvalLine(progress: ParkedProgress = { isRemembered: true }): LineOf<"approval"> {
  return {
    kind: "approval",
    approval: {
      id: "approval",
      epoch: 1,
      thread_id: "thread",
      turn_id: "turn",
      item_id: "item",
      call_id: "call",
      request_id: "1",
      kind: "command",
      fingerprint: "f",
      request: JSON.stringify({
        kind: "command",
        action: "run",
        command: "true",
        cwd: "/work",
        reason: null,
      }),
      verdict: null,
      offers: "[]",
      state: "answered",
      answer: JSON.stringify({ type: "decision", offer: "accept" }),
      answered_by: "someone",
      answered_by_name: null,
      answered_at: 1,
      note: null,
      created_at: 1,
      updated_at: 1,
      expires_at: null,
      rollout_bytes: 0,
      parked_at: 1,
      submitted_at: null,
      progress: JSON.stringify(progress),
    },
  };
}

/** A session with parts that run programs. */
function* sessionWithPrograms(): Generator<SessionFileLine> {
  for (const line of sessionLines({ events: 1 })) {
    if (line.kind !== "session") {
      yield line;
      continue;
    }
    const { session } = line;
    const mcpServers = {
      local: { command: "true" },
      sender: { url: "http://127.0.0.1:1", bearerTokenEnvVar: "OPENAI_API_KEY" },
      remote: { url: "http://127.0.0.1:1" },
    };
    const environment = { url: "ws://127.0.0.1:1/" };
    const settings = { ...session.settings, permissionMode: "bypass" as const };
    yield { ...line, session: { ...session, settings, setup: { mcpServers, environment } } };
  }
  yield approvalLine();
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

/** Number of rows that belong to sessions without a session row. */
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
    const { session } = await importSession(
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

  test("imports parts that run programs only if the file is trusted, and reports what it left out", async () => {
    await using database = await databases.open();
    const read = async (id: string) => {
      const { settings, setup } = await database.sessions.require(id);
      const { rows } = await database.inbox.list({ sessionId: id, limit: 10 });
      const { mcpServers = {}, environment } = JSON.parse(setup) as {
        mcpServers?: object;
        environment?: object;
      };
      const { permissionMode } = JSON.parse(settings) as { permissionMode: string };
      return [
        permissionMode,
        Object.keys(mcpServers),
        environment,
        rows.map(({ state, answer }) => [state, answer !== null]),
      ];
    };
    const { session, leftOut } = await importSession(database, toAsync(sessionWithPrograms()), OPTIONS);
    expect(await read(session.id)).toEqual(["workspace-write", [], undefined, [["parked", false]]]);
    expect(await database.parked.remembered(session.id)).toEqual([]);
    expect(leftOut).toEqual({
      mcpServers: ["local", "sender", "remote"],
      environment: "ws://127.0.0.1:1/",
      permissionMode: "bypass",
      answers: 1,
    });
    expect((await allEvents(database, session.id)).at(-1)).toMatchObject({
      type: "warning",
      message: expect.stringContaining(
        "local, sender, remote, the environment ws://127.0.0.1:1/, the permission mode bypass",
      ) as string,
    });

    await using other = await databases.open();
    const trusted = await importSession(other, toAsync(sessionWithPrograms()), {
      ...OPTIONS,
      isTrusted: true,
      permissionMode: "danger-full-access",
    });
    const all = ["local", "sender", "remote"];
    const { rows } = await other.inbox.list({ sessionId: trusted.session.id, limit: 10 });
    expect(rows.map(({ state }) => state)).toEqual(["answered"]);
    expect(await other.parked.remembered(trusted.session.id)).toHaveLength(1);
    expect(trusted.leftOut).toEqual({ mcpServers: [], environment: null, permissionMode: null, answers: 0 });
    const { setup, settings } = trusted.session;
    expect(Object.keys((JSON.parse(setup) as { mcpServers: object }).mcpServers)).toEqual(all);
    expect(settings).toContain('"danger-full-access"');
  });

  test("refuses a thread that has no rollout", async () => {
    await using database = await databases.open();
    const lines = [...sessionLines({ events: 1 })]
      .map((line) => (line.kind === "rollout" ? { ...line, role: "base" as const } : line))
      .map((line) =>
        line.kind === "session" ? { ...line, session: { ...line.session, threadId: "other" } } : line,
      );
    await expect(importSession(database, toAsync(lines), OPTIONS)).rejects.toThrow(
      "no rollout for its thread",
    );
    expect(await countRemains(database)).toBe(0);
  });

  test("refuses a history without the file of its thread, and accepts a session that has neither", async () => {
    await using database = await databases.open();
    const [first, event] = [...sessionLines({ events: 1 })] as [SessionFileLine, SessionFileLine];
    const item: SessionFileLine = {
      kind: "item",
      item: {
        item_id: "item",
        thread_id: "thread",
        turn_id: "turn",
        kind: "agentMessage",
        status: "completed",
        first_seq: 1,
        last_seq: 1,
        completed_seq: 1,
        preview: "{}",
        body_length: 0,
      },
    };
    await expect(importSession(database, toAsync([first, event, item]), OPTIONS)).rejects.toThrow(
      "no rollout for its thread",
    );
    expect(await countRemains(database)).toBe(0);
    await importSession(database, toAsync([first, event]), OPTIONS);
  });

  test("refuses a rollout with a line that is too long to be loaded", async () => {
    await using database = await databases.open();
    const part = Buffer.alloc(4 * 1024 * 1024, "x");
    const parts = 17;
    const lines: SessionFileLine[] = [
      ...[...sessionLines({ events: 1 })].filter((line) => line.kind === "session" || line.kind === "event"),
      { ...(rolloutLines("thread", null)[0] as LineOf<"rollout">), role: "main", bytes: parts * part.length },
      ...Array.from({ length: parts }, () => ({ kind: "data", base64: part.toString("base64") }) as const),
    ];
    await expect(importSession(database, toAsync(lines), OPTIONS)).rejects.toThrow("line");
    expect(await countRemains(database)).toBe(0);
  });

  test("accepts a base in which an export has masked secrets, next to one in which it has not", async () => {
    await using database = await databases.open();
    const based = (threadId: string, text: string): SessionFileLine[] => {
      const [rollout] = rolloutLines("base", null) as [LineOf<"rollout">];
      const data = Buffer.from(`{"text":"${text}"}\n`);
      return [
        ...sessionLines({ threadId, events: 1 }),
        { ...rollout, role: "base", bytes: data.length },
        { kind: "data", base64: data.toString("base64") },
      ];
    };
    await importSession(database, toAsync(based("one", "a secret")), OPTIONS);
    await importSession(database, toAsync(based("two", "a ******")), OPTIONS);
    expect(String(await database.rollouts.read("base"))).toContain("a secret");
    const other = importSession(database, toAsync(based("three", "another!")), OPTIONS);
    await expect(other).rejects.toThrow("differs");
  });

  test.each([
    ["an approval twice", [approvalLine(), approvalLine()]],
    ["a rollout that is its own base", rolloutLines("x", "x")],
    ["rollouts in a circle", [...rolloutLines("x", "y"), ...rolloutLines("y", "x")]],
    ["a rollout twice", [...rolloutLines("x", null), ...rolloutLines("x", null)]],
    ["a rollout of another thread as its own", rolloutLines("x", null, { role: "main" })],
    [
      "a rollout with the path of another one",
      rolloutLines("x", null, { path: "sessions/2026/11/16/rollout-2026-11-16T15-25-44-victim.jsonl" }),
    ],
  ])("refuses %s", async (_what, lines) => {
    await using database = await databases.open();
    const file = toAsync([...sessionLines({ events: 1 }), ...lines]);
    await expect(importSession(database, file, OPTIONS)).rejects.toMatchObject({ code: "unprocessable" });
    expect(await countRemains(database)).toBe(0);
  });

  test("refuses a rollout that another session continues", async () => {
    await using database = await databases.open();
    await importSession(database, toAsync(sessionLines({ events: 1 })), OPTIONS);
    const second = [...sessionLines({ threadId: "two", events: 1 }), ...rolloutLines("thread", null)];
    await expect(importSession(database, toAsync(second), OPTIONS)).rejects.toThrow("belongs to another");
    const base = second.map((line) => (line.kind === "rollout" ? { ...line, role: "base" as const } : line));
    await importSession(database, toAsync(base), OPTIONS);
  });

  test("imports no delivery and no verdict of an untrusted file", async () => {
    await using database = await databases.open();
    const verdict = JSON.stringify({ decision: "allow", reason: "harmless", rule: "", segments: [] });
    const lines = [
      approvalLine({ action: "done", output: "All tests pass.", strategy: "inject", startedItems: [] }),
      approvalLine({ isContinued: true, strategy: "rewind", cutBytes: 0 }),
    ].map((line, index) => ({ ...line, approval: { ...line.approval, verdict, id: `approval-${index}` } }));
    const file = toAsync([...sessionLines({ events: 1 }), ...lines]);
    const { session } = await importSession(database, file, OPTIONS);
    const { rows } = await database.inbox.list({ sessionId: session.id, limit: 10 });
    expect(rows.toReversed().map(({ state, verdict: shown, progress }) => [state, shown, progress])).toEqual([
      ["parked", null, JSON.stringify({ startedItems: [], action: "begun" })],
      ["withdrawn", null, "{}"],
    ]);
  });

  test("shows the paths of a moved patch where they are now", async () => {
    await using database = await databases.open();
    const [line] = [approvalLine({})];
    const changes = [{ path: "/work/a", kind: "update", diff: "-x\n+y\n\n\nMoved to: /work/b" }];
    const request = JSON.stringify({ kind: "fileChange", reason: null, grantRoot: null, changes });
    const moved = { ...line, approval: { ...line.approval, kind: "fileChange", request } };
    const file = toAsync([...sessionLines({ events: 1 }), moved]);
    const { session } = await importSession(database, file, { ...OPTIONS, cwd: "/elsewhere" });
    const { rows } = await database.inbox.list({ sessionId: session.id, limit: 10 });
    expect(JSON.parse(rows[0]?.request ?? "")).toMatchObject({
      changes: [{ path: "/elsewhere/a", diff: "-x\n+y\n\n\nMoved to: /elsewhere/b" }],
    });
  });

  test("rejects a rollout that forms a cycle with one of another session", async () => {
    await using database = await databases.open();
    const first = toAsync([...sessionLines({ events: 1 }), ...rolloutLines("x", "y")]);
    await importSession(database, first, OPTIONS);
    const second = toAsync([...sessionLines({ threadId: "two", events: 1 }), ...rolloutLines("y", "x")]);
    await expect(importSession(database, second, OPTIONS)).rejects.toThrow("refers to itself");
  });
});
