import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import { useDatabases } from "../../test/database-fixture.ts";
import { approvalLine, itemLine, rolloutPath, sessionLine, toAsync } from "../../test/session-file-lines.ts";
import type { Database } from "../database.ts";
import { exportSession } from "./export-session.ts";
import { importSession } from "./import-session.ts";
import type { LineOf, SessionFileLine } from "./session-file.ts";

const OPTIONS = {
  cwd: "/work",
  needs: [],
  nodeName: "here",
  maxSessions: 100,
  by: "tester",
  isTrusted: true,
};

const SETUP: LineOf<"session">["session"]["setup"] = {
  mcpServers: {
    open: { command: "true", args: ["--verbose", "now"] },
    variables: { command: "true", env: { KEY: 'secret "of" env', PIN: "12345678" } },
    arguments: { command: "true", args: ["--api-key", "secret-of-args"] },
    assigned: { command: "true", args: ["--token=secret-of-assignment"] },
    header: { command: "true", args: ["-H", "Authorization: Bearer secret-of-scheme"] },
  },
};

/** The output of a command and the result of a call, as Codex stores them. */
const ROLLOUT = [
  { type: "session_meta", payload: { id: "thread", tokens: 12_345_678 } },
  {
    type: "response_item",
    payload: {
      type: "function_call_output",
      call_id: "printed",
      output: JSON.stringify({ stdout: 'KEY=secret "of" env secret-of-args 12345678\nsecret-of-assignment' }),
    },
  },
  {
    type: "response_item",
    payload: {
      type: "function_call_output",
      call_id: "asked",
      output: JSON.stringify({
        answers: { pin: { answers: ["secret-of-answer"] }, short: { answers: ["4711"] } },
      }),
    },
  },
  { type: "response_item", payload: { type: "message", content: "4711 and 12345678 and secret-of-answer" } },
];
const ROLLOUT_BYTES = Buffer.from(ROLLOUT.map((line) => `${JSON.stringify(line)}\n`).join(""));

function question(id: string, isSecret: boolean) {
  return { id, header: id, question: `${id}?`, isOther: false, isSecret, options: null };
}

function secretApproval(state: "answered" | "delivered"): LineOf<"approval"> {
  return approvalLine({
    id: `approval-${state}`,
    call_id: "asked",
    kind: "userInput",
    request: JSON.stringify({
      kind: "userInput",
      questions: [
        question("pin", true),
        question("quoted", true),
        question("short", true),
        question("name", false),
      ],
    }),
    state,
    answer: JSON.stringify({
      type: "answers",
      answers: {
        pin: "secret-of-answer",
        quoted: ['secret-of "quoted" answer'],
        short: ["4711"],
        name: "Ann",
      },
    }),
    submitted_at: state === "delivered" ? 1 : null,
    progress: JSON.stringify({
      strategy: "inject",
      action: "done",
      output: JSON.stringify({
        answers: { pin: { answers: ["secret-of-answer"] }, short: { answers: ["4711"] } },
      }),
    }),
  });
}

/** A request that repeats the answer. */
function commandApproval(command: string): LineOf<"approval"> {
  const { approval } = secretApproval("delivered");
  const request = { kind: "command", action: "run", command, cwd: "/work", reason: null };
  return approvalLine({
    ...approval,
    id: "command",
    kind: "command",
    call_id: "other",
    request: JSON.stringify(request),
    state: "withdrawn",
    verdict: null,
    answer: null,
    progress: null,
    note: command,
  });
}

async function insertSession(database: Database): Promise<string> {
  const text = `It is secret-of-answer, ${JSON.stringify({ as: 'secret-of "quoted" answer' })}`;
  const data = JSON.stringify({ kind: "server", message: text });
  const lines: SessionFileLine[] = [
    sessionLine({ setup: SETUP, goal: { objective: text }, preview: text }),
    { kind: "event", seq: 1, epoch: 1, at: 1, type: "warning", turn_id: null, item_id: null, data },
    itemLine(text),
    {
      kind: "turn",
      turn_id: "turn",
      thread_id: "thread",
      first_seq: 1,
      last_seq: 1,
      status: "completed",
      title: text,
      started_at: 1,
      ended_at: 1,
      usage: null,
      diff_stat: null,
    },
    secretApproval("answered"),
    secretApproval("delivered"),
    commandApproval(text),
    {
      kind: "rollout",
      id: "thread",
      path: rolloutPath("thread"),
      baseId: null,
      role: "main",
      bytes: ROLLOUT_BYTES.length,
    },
    { kind: "data", base64: ROLLOUT_BYTES.toString("base64") },
  ];
  const { session } = await importSession(database, toAsync(lines), OPTIONS);
  return session.id;
}

async function readExport(database: Database, sessionId: string): Promise<SessionFileLine[]> {
  const lines = await Array.fromAsync(await exportSession(database, sessionId));
  return lines.map((line) => JSON.parse(line) as SessionFileLine);
}

function rolloutOf(lines: readonly SessionFileLine[]): Buffer {
  return Buffer.concat(
    lines.flatMap((line) => (line.kind === "data" ? [Buffer.from(line.base64, "base64")] : [])),
  );
}

describe.each(STORE_KINDS)("an export on %s", (kind) => {
  const databases = useDatabases(kind);

  test("has no secrets of the setup and no answers to secret questions, not even in the thread's file", async () => {
    await using database = await databases.open();
    const lines = await readExport(database, await insertSession(database));
    const [first] = lines;
    if (first?.kind !== "session") throw new Error("It has no session.");
    expect(Object.keys(first.session.setup.mcpServers ?? {})).toEqual(["open"]);
    expect(first.session.leftOut).toEqual(["variables", "arguments", "assigned", "header"]);

    const rest = JSON.stringify(lines.filter((line) => line.kind !== "data"));
    expect(rest).not.toMatch(/secret-of|4711/);
    const masked = `It is ${"*".repeat(16)}, {"as":"${"*".repeat(27)}"}`;
    expect(JSON.parse(lines.find((line) => line.kind === "event")?.data ?? "")).toMatchObject({
      message: masked,
    });
    expect(lines.find((line) => line.kind === "turn")).toMatchObject({ title: masked });
    expect(first.session).toMatchObject({ preview: masked, goal: { objective: masked } });
    const rollout = rolloutOf(lines);
    expect(rollout.toString()).not.toMatch(/secret-of|secret .*of.* env/);
    expect(rollout).toHaveLength(ROLLOUT_BYTES.length);
    const values = rollout
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as (typeof ROLLOUT)[number]);
    expect(values).toMatchObject([
      // Numbers are not masked.
      { payload: { tokens: 12_345_678 } },
      { payload: { output: expect.stringMatching(/KEY=\*+ \*{14} \*{8}\\n\*{20}/) as string } },
      { payload: { output: expect.stringContaining('"short":{"answers":["****"]}') as string } },
      // Short values are only masked in the call's own output.
      { payload: { content: "4711 and ******** and ****************" } },
    ]);
  });

  test("can be imported where the same secrets were not masked", async () => {
    await using database = await databases.open();
    await using other = await databases.open();
    const sessionId = await insertSession(database);
    const lines = await readExport(database, sessionId);
    const { session, leftOut } = await importSession(other, toAsync(lines.slice(0, -1)), OPTIONS);
    expect(leftOut.mcpServers).toEqual(["variables", "arguments", "assigned", "header"]);
    const { rows } = await other.inbox.list({ sessionId: session.id, limit: 10 });
    expect(Object.fromEntries(rows.map(({ state, answer }) => [state, answer === null]))).toEqual({
      delivered: false,
      parked: true,
      withdrawn: true,
    });
  });

  test.each(["message", "deletion", "restart", "merge"] as const)(
    "fails without its end if there is a %s meanwhile",
    async (change) => {
      await using database = await databases.open();
      const sessionId = await insertSession(database);
      const lines = await exportSession(database, sessionId);
      const seen = [(await lines.next()).value as string];
      await database.store.db
        .updateTable("session")
        .set(
          {
            message: { last_seq: 100 },
            deletion: { phase: "deleted" as const },
            restart: { epoch: 100 },
            merge: { merged_seq: 2 },
          }[change],
        )
        .where("id", "=", sessionId)
        .execute();
      const read = async (): Promise<void> => {
        for await (const line of lines) seen.push(line);
      };
      await expect(read()).rejects.toMatchObject({
        code: change === "deletion" ? "session_deleted" : "turn_running",
      });
      expect(seen.some((line) => line.includes('"kind":"end"'))).toBe(false);
    },
  );

  test("fails if a file of the thread is removed meanwhile", async () => {
    await using database = await databases.open();
    const sessionId = await insertSession(database);
    const { rollouts } = database;
    const read = rollouts.read.bind(rollouts);
    rollouts.read = async (id) => {
      await database.store.db.deleteFrom("rollout").where("id", "=", id).execute();
      return read(id);
    };
    await expect(readExport(database, sessionId)).rejects.toMatchObject({ code: "turn_running" });
  });

  test("is refused before its first byte if the store does not have the whole thread", async () => {
    await using database = await databases.open();
    const sessionId = await insertSession(database);
    await database.store.db.updateTable("rollout").set({ is_partial: 1 }).execute();
    await expect(exportSession(database, sessionId)).rejects.toMatchObject({ code: "rollout_too_large" });
  });
});
