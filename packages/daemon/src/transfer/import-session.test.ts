import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import { allEvents, newSession, useDatabases } from "../../test/database-fixture.ts";
import { approvalLine, itemLine, rolloutPath, sessionLine, toAsync } from "../../test/session-file-lines.ts";
import type { SessionSetup } from "../api/settings.ts";
import type { Database } from "../database.ts";
import type { ParkedProgress } from "../inbox/parked-inbox.ts";
import { importSession } from "./import-session.ts";
import { RolloutImport } from "./rollout-import.ts";
import type { LineOf, SessionFileLine } from "./session-file.ts";
import { StagedSession } from "./staged-session.ts";

const OPTIONS = { cwd: "/work", needs: [], nodeName: "here", maxSessions: 100, by: "tester" };
const EVENTS = 1200;

function* sessionLines({ threadId = "thread", events = EVENTS } = {}): Generator<SessionFileLine> {
  yield sessionLine({ threadId, name: "moved", epoch: 3, lastSeq: events });
  for (let seq = 1; seq <= events; seq += 1) {
    const data = JSON.stringify({ kind: "server", message: `event ${seq}` });
    yield { kind: "event", seq, epoch: 3, at: seq, type: "warning", turn_id: null, item_id: null, data };
  }
  yield { kind: "rollout", id: threadId, path: rolloutPath(threadId), baseId: null, role: "main", bytes: 3 };
  yield { kind: "data", base64: Buffer.from("{}\n").toString("base64") };
}

function rolloutLines(
  id: string,
  baseId: string | null,
  more: Partial<LineOf<"rollout">> = {},
): SessionFileLine[] {
  return [
    { kind: "rollout", id, path: rolloutPath(id), baseId, role: "agent", bytes: 3, ...more },
    { kind: "data", base64: Buffer.from("{}\n").toString("base64") },
  ];
}

/** The first line of a rollout that continues another one. */
const FORKED = {
  type: "session_meta",
  payload: { history_base: { thread_id: "victim", end_byte_offset: 9 } },
};

function rolloutOf(id: string, data: string): SessionFileLine[] {
  const [rollout] = rolloutLines(id, null, { bytes: data.length }) as [SessionFileLine];
  return [rollout, { kind: "data", base64: Buffer.from(data).toString("base64") }];
}

/** An answered approval that is delivered when the session is loaded. */
function answeredLine(progress: ParkedProgress = { isRemembered: true }): LineOf<"approval"> {
  return approvalLine({ progress: JSON.stringify(progress) });
}

const TOOL = {
  name: "report",
  description: "Sends a report",
  inputSchema: { type: "object" },
  url: "http://127.0.0.1:1/report",
  secret: `whsec_${"a".repeat(32)}`,
};

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
    yield { ...line, session: { ...session, settings, setup: { mcpServers, environment, tools: [TOOL] } } };
  }
  yield answeredLine();
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
      const { mcpServers = {}, environment, tools } = JSON.parse(setup) as SessionSetup;
      const { permissionMode } = JSON.parse(settings) as { permissionMode: string };
      return [
        permissionMode,
        Object.keys(mcpServers),
        environment,
        tools,
        rows.map(({ state, answer }) => [state, answer !== null]),
      ];
    };
    const { session, leftOut } = await importSession(database, toAsync(sessionWithPrograms()), OPTIONS);
    expect(await read(session.id)).toEqual([
      "workspace-write",
      [],
      undefined,
      undefined,
      [["parked", false]],
    ]);
    expect(await database.parked.remembered(session.id)).toEqual([]);
    expect(leftOut).toEqual({
      mcpServers: ["local", "sender", "remote"],
      tools: ["report"],
      environment: "ws://127.0.0.1:1/",
      permissionMode: "bypass",
      answers: 1,
    });
    expect((await allEvents(database, session.id)).at(-1)).toMatchObject({
      type: "warning",
      message: expect.stringContaining(
        "local, sender, remote, the tools report, the environment ws://127.0.0.1:1/, the permission mode bypass",
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
    expect(trusted.leftOut).toEqual({
      mcpServers: [],
      tools: [],
      environment: null,
      permissionMode: null,
      answers: 0,
    });
    expect((JSON.parse(trusted.session.setup) as SessionSetup).tools).toEqual([TOOL]);
    const { setup, settings } = trusted.session;
    expect(Object.keys((JSON.parse(setup) as { mcpServers: object }).mcpServers)).toEqual(all);
    expect(settings).toContain('"danger-full-access"');
  });

  test("keeps only parts of an untrusted setup that are known to be harmless", async () => {
    await using database = await databases.open();
    const lines = [...sessionLines({ events: 1 })].map((line) => {
      if (line.kind !== "session") return line;
      const setup = { dedicated: true, addedLater: { url: "http://127.0.0.1:1" } };
      return { ...line, session: { ...line.session, setup } };
    });
    const { session } = await importSession(database, toAsync(lines), OPTIONS);
    expect(JSON.parse(session.setup)).toEqual({ dedicated: true });
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
    await expect(importSession(database, toAsync([first, event, itemLine("")]), OPTIONS)).rejects.toThrow(
      "no rollout for its thread",
    );
    expect(await countRemains(database)).toBe(0);
    await importSession(database, toAsync([first, event]), OPTIONS);
  });

  test("refuses a rollout with a line that is too long to be loaded", async () => {
    await using database = await databases.open();
    const part = Buffer.alloc(4 * 1024 * 1024, "x");
    const start = Buffer.from(part);
    start.write("{}\n{");
    const parts = 17;
    const lines: SessionFileLine[] = [
      ...[...sessionLines({ events: 1 })].filter((line) => line.kind === "session" || line.kind === "event"),
      { ...(rolloutLines("thread", null)[0] as LineOf<"rollout">), role: "main", bytes: parts * part.length },
      ...Array.from({ length: parts }, (_, index) => {
        const base64 = (index === 0 ? start : part).toString("base64");
        return { kind: "data", base64 } as const;
      }),
    ];
    await expect(importSession(database, toAsync(lines), OPTIONS)).rejects.toThrow("a line with more than");
    expect(await countRemains(database)).toBe(0);
  });

  describe("with a base that another session has", () => {
    /** A fork of the thread `base`, whose file has `data` as the content of that thread. */
    const forkOf = (data: string | undefined, fork: Partial<LineOf<"rollout">> = {}): SessionFileLine[] => {
      const [rollout] = rolloutLines("base", null) as [LineOf<"rollout">];
      const bytes = Buffer.from(data ?? "");
      return [
        ...[...sessionLines({ threadId: "fork", events: 1 })].map((line) =>
          line.kind === "rollout" ? { ...line, baseId: "base" } : line,
        ),
        ...(data === undefined
          ? []
          : ([
              { ...rollout, role: "base", bytes: bytes.length, ...fork },
              { kind: "data", base64: bytes.toString("base64") },
            ] as const)),
      ];
    };
    /** Imports the session of the thread `base`. */
    const importBase = async (database: Database, data: string, more: Partial<LineOf<"rollout">> = {}) => {
      const lines = [...sessionLines({ threadId: "base", events: 1 })].map((line) => {
        if (line.kind === "rollout") return { ...line, bytes: Buffer.byteLength(data), ...more };
        return line.kind === "data" ? { ...line, base64: Buffer.from(data).toString("base64") } : line;
      });
      const baseOf = more.baseId ?? null;
      await importSession(
        database,
        toAsync([...lines, ...(baseOf === null ? [] : rolloutLines(baseOf, null))]),
        OPTIONS,
      );
    };
    const STORED = '{}\n{"text":"a secret"}\n';

    test("accepts a file with the same bytes, or with more than an export has masked", async () => {
      await using database = await databases.open();
      await importBase(database, STORED.replace("secret", "******"));
      await importSession(database, toAsync(forkOf(STORED)), OPTIONS);
      expect(String(await database.rollouts.read("base"))).toContain("a ******");
    });

    test.each([
      ["no content of it", undefined],
      ["other content", STORED.replace("a", "b")],
      ["asterisks instead of its content", STORED.replace("a secret", "********")],
      ["only its beginning", "{}\n"],
      ["more content", `${STORED}{}\n`],
    ])("refuses a file with %s", async (_what, data) => {
      await using database = await databases.open();
      await importBase(database, STORED);
      const fork = importSession(database, toAsync(forkOf(data)), OPTIONS);
      await expect(fork).rejects.toMatchObject({ code: "unprocessable" });
      expect((await database.sessions.list()).rows).toHaveLength(1);
    });

    test("refuses a file that does not contain the base of the base", async () => {
      await using database = await databases.open();
      await importBase(database, STORED, { baseId: "root" });
      const fork = importSession(database, toAsync(forkOf(STORED)), OPTIONS);
      await expect(fork).rejects.toThrow("differs");
    });

    test("refuses a base that another node imports at the same time", async () => {
      await using database = await databases.open();
      const [rollout] = rolloutLines("base", null, { role: "base" }) as [LineOf<"rollout">];
      const { db } = database.store;
      const started = await db
        .transaction()
        .execute(async (trx) => RolloutImport.begin(database.rollouts, trx, "mine", rollout));
      await importBase(database, STORED);
      const added = db.transaction().execute(async (trx) => started.add(trx, Buffer.from("{}\n")));
      await expect(added).rejects.toThrow("differs");
    });
  });

  test.each([
    ["an approval twice", [answeredLine(), answeredLine()]],
    ["a rollout that is its own base", rolloutLines("x", "x")],
    ["rollouts in a circle", [...rolloutLines("x", "y"), ...rolloutLines("y", "x")]],
    ["a rollout twice", [...rolloutLines("x", null), ...rolloutLines("x", null)]],
    ["a rollout whose base it does not contain", rolloutLines("x", "y")],
    ["a rollout of another thread as its own", rolloutLines("x", null, { role: "main" })],
    ["an empty rollout", rolloutLines("x", null, { bytes: 0 }).slice(0, 1)],
    ["a rollout that is not JSON", rolloutOf("x", "{{{\n")],
    ["a rollout whose first line has no end", rolloutOf("x", "{}")],
    ["a rollout that does not begin with an object", rolloutOf("x", "[]\n")],
    ["a rollout with a line that is not an object", rolloutOf("x", "{}\n\nx\n")],
    ["a rollout that names another base", rolloutOf("x", `${JSON.stringify(FORKED)}\n`)],
    [
      "a rollout with the path of another one, whose ID ends like its own",
      rolloutLines("x", null, { path: rolloutPath("other-x") }),
    ],
    ["a rollout with the path of another one", rolloutLines("x", null, { path: rolloutPath("victim") })],
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
      answeredLine({ action: "done", output: "All tests pass.", strategy: "inject", startedItems: [] }),
      answeredLine({ isContinued: true, strategy: "rewind", cutBytes: 0 }),
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
    const [line] = [answeredLine({})];
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
});
