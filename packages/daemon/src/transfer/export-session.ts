import { createHash } from "node:crypto";
import type { SessionSetup } from "../api/settings.ts";
import type { Database } from "../database.ts";
import type { SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import type { InboxRequest } from "../api/approval.ts";
import type { ParkedProgress } from "../inbox/parked-inbox.ts";
import { hasSecretQuestions, maskAnswer } from "../secrets/mask-answer.ts";
import { maskRollout } from "../secrets/mask-rollout.ts";
import { readSecretAnswers } from "../inbox/read-secret-answers.ts";
import {
  hasSecrets,
  isUnusual,
  SecretMask,
  setupSecrets,
  withoutUrlSecrets,
} from "../secrets/secret-mask.ts";
import { viewSession } from "../views.ts";
import { maskLine } from "./mask-line.ts";
import { FORMAT, type LineOf, type SessionFileLine } from "./session-file.ts";

const PAGE = 1000;
const DATA_BYTES = 512 * 1024;
/** Phases in which no owner writes to the session. */
const AT_REST: ReadonlySet<SessionRow["phase"]> = new Set(["idle", "failed", "parked", "stranded"]);

type ApprovalColumns = LineOf<"approval">["approval"];

/**
 * Yields the lines of a session's file: everything that another daemon needs to display and continue it. Rejects with
 * `turn_running` while the session has work, and with `rollout_too_large` if the store does not have its complete
 * thread. If the session changes while it is read, the iteration fails before the last line.
 */
export async function exportSession(database: Database, sessionId: string): Promise<AsyncGenerator<string>> {
  const session = await database.sessions.require(sessionId);
  if (!AT_REST.has(session.phase)) {
    throw new DaemonError(
      "turn_running",
      `The session is ${session.phase}. Export it when its turn has ended.`,
    );
  }
  for (const { id } of await database.rollouts.lineage(sessionId)) await database.rollouts.requireEnd(id);
  return encode(readSession(database, session));
}

async function* encode(lines: AsyncIterable<SessionFileLine>): AsyncGenerator<string> {
  const hash = createHash("sha256");
  let count = 0;
  for await (const line of lines) {
    const text = `${JSON.stringify(line)}\n`;
    hash.update(text);
    count += 1;
    yield text;
  }
  yield `${JSON.stringify({ kind: "end", lines: count, sha256: hash.digest("hex") } satisfies SessionFileLine)}\n`;
}

/** Yields all parts without secrets. */
async function* readSession(database: Database, row: SessionRow): AsyncGenerator<SessionFileLine> {
  const setup = JSON.parse(row.setup) as SessionSetup;
  const answers = await readSecretAnswers(database.store, await sessionsOfThread(database, row.id));
  const calls = answers.flatMap(({ callId, answers: secrets }) =>
    callId === null ? [] : [{ callId, secrets }],
  );
  const unusual = answers.flatMap(({ answers: secrets }) => secrets.filter(isUnusual));
  const mask = SecretMask.ofSecrets(unusual);
  for await (const line of readColumns(database, row, setup)) yield mask ? maskLine(line, mask) : line;
  const secrets = [...new Set([...setupSecrets(setup), ...unusual])];
  yield* readRollouts(database, row.id, (data) => maskRollout(data, secrets, calls));
  await requireUnchanged(database, row);
}

/** Returns the session and those that have files of its thread, which may contain answers to their questions. */
async function sessionsOfThread({ store, rollouts }: Database, sessionId: string): Promise<string[]> {
  const files = await rollouts.lineage(sessionId);
  if (files.length === 0) return [sessionId];
  const rows = await store.db
    .selectFrom("session_rollout")
    .select("session_id")
    .distinct()
    .where(
      "rollout_id",
      "in",
      files.map(({ id }) => id),
    )
    .execute();
  return [...new Set([sessionId, ...rows.map((row) => row.session_id)])];
}

async function* readColumns(
  database: Database,
  row: SessionRow,
  setup: SessionSetup,
): AsyncGenerator<SessionFileLine> {
  const {
    id,
    threadId,
    name,
    cwd,
    settings,
    goal,
    preview,
    archivedAt,
    createdAt,
    epoch,
    firstSeq,
    lastSeq,
  } = viewSession(row);
  const leftOut = secretServers(setup);
  yield {
    kind: "session",
    format: FORMAT,
    codexVersion: row.codex_version,
    session: {
      id,
      threadId,
      name,
      cwd,
      settings,
      setup: withoutSecrets(setup, leftOut),
      goal,
      preview,
      usage: row.usage,
      archivedAt,
      createdAt,
      epoch,
      firstSeq,
      mergedSeq: row.merged_seq,
      lastSeq,
      ...(leftOut.length > 0 && { leftOut }),
    },
  };
  yield* readEvents(database, row);
  yield* readHistory(database, row);
  yield* readApprovals(database, id);
}

/**
 * All parts must be from the same time. Otherwise, a file with a journal that is older than its thread would be marked
 * as complete.
 */
async function requireUnchanged({ sessions }: Database, before: SessionRow): Promise<void> {
  const now = await sessions.require(before.id);
  const isSame = (["phase", "epoch", "first_seq", "merged_seq", "last_seq"] as const).every(
    (column) => now[column] === before[column],
  );
  if (!isSame) throw changedDuringExport();
}

function changedDuringExport(): DaemonError {
  return new DaemonError("turn_running", "The session has changed during the export. Export it again.");
}

async function* readEvents(
  { store }: Database,
  { id, last_seq: lastSeq }: SessionRow,
): AsyncGenerator<SessionFileLine> {
  for (let after = 0; ;) {
    const rows = await store.db
      .selectFrom("event")
      .select(["seq", "epoch", "at", "type", "turn_id", "item_id", "data"])
      .where("session_id", "=", id)
      .where("seq", ">", after)
      .where("seq", "<=", lastSeq)
      .orderBy("seq")
      .limit(PAGE)
      .execute();
    for (const row of rows) yield { kind: "event", ...row };
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.seq ?? lastSeq;
  }
}

async function* readHistory(
  { store }: Database,
  { id: sessionId }: SessionRow,
): AsyncGenerator<SessionFileLine> {
  for (let after = -1; ;) {
    const rows = await store.db
      .selectFrom("item")
      .selectAll()
      .where("session_id", "=", sessionId)
      .where("first_seq", ">", after)
      .orderBy("first_seq")
      .limit(PAGE)
      .execute();
    for (const { session_id: _, ...item } of rows) yield { kind: "item", item };
    if (rows.length < PAGE) break;
    after = rows.at(-1)?.first_seq ?? after;
  }
  const turns = await store.db
    .selectFrom("turn")
    .selectAll()
    .where("session_id", "=", sessionId)
    .orderBy("first_seq")
    .execute();
  for (const { session_id: _, ...turn } of turns) yield { kind: "turn", ...turn };
}

async function* readApprovals({ inbox }: Database, sessionId: string): AsyncGenerator<SessionFileLine> {
  for (let cursor: string | undefined; ;) {
    const page = await inbox.list({ sessionId, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const { session_id: _, ...approval } of page.rows) {
      yield { kind: "approval", approval: withoutSecretAnswers(approval) };
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return;
  }
}

/** Returns an approval without the answers to secret questions. */
function withoutSecretAnswers(approval: ApprovalColumns): ApprovalColumns {
  const request = JSON.parse(approval.request) as InboxRequest;
  if (!hasSecretQuestions(request)) return approval;
  const answer = approval.answer === null ? null : (JSON.parse(approval.answer) as Record<string, unknown>);
  const progress = withoutOutput(approval.progress);
  const masked = answer && JSON.stringify(maskAnswer(request, answer));
  // An undelivered answer has to be given again.
  const isLost = approval.parked_at !== null && approval.state === "answered" && masked !== approval.answer;
  if (!isLost) return { ...approval, answer: masked, progress };
  return {
    ...approval,
    state: "parked",
    answer: null,
    answered_by: null,
    answered_by_name: null,
    answered_at: null,
    progress,
  };
}

/** The output of a question contains its answers. Without the output, the question is treated as not started. */
function withoutOutput(progress: string | null): string | null {
  if (progress === null) return null;
  const { output: _output, action: _action, ...rest } = JSON.parse(progress) as ParkedProgress;
  return JSON.stringify(rest);
}

async function* readRollouts(
  { rollouts }: Database,
  sessionId: string,
  mask: (data: Uint8Array) => Uint8Array,
): AsyncGenerator<SessionFileLine> {
  for (const { id, path, baseId, role } of await rollouts.lineage(sessionId)) {
    const stored = await rollouts.read(id);
    if (!stored) throw changedDuringExport();
    const data = mask(stored);
    yield { kind: "rollout", id, path, baseId, role, bytes: data.length };
    for (let at = 0; at < data.length; at += DATA_BYTES) {
      yield { kind: "data", base64: Buffer.from(data.subarray(at, at + DATA_BYTES)).toString("base64") };
    }
  }
}

/** Returns the names of MCP servers with configuration values that only the session's creator knows. */
function secretServers({ mcpServers }: SessionSetup): string[] {
  return Object.entries(mcpServers ?? {}).flatMap(([name, server]) => (hasSecrets(server) ? [name] : []));
}

function withoutSecrets(
  { mcpServers, environment, dedicated }: SessionSetup,
  leftOut: readonly string[],
): SessionSetup {
  const open = Object.entries(mcpServers ?? {}).filter(([name]) => !leftOut.includes(name));
  return {
    ...(open.length > 0 && { mcpServers: Object.fromEntries(open) }),
    ...(environment && { environment: { url: withoutUrlSecrets(environment.url) } }),
    ...(dedicated !== undefined && { dedicated }),
  };
}
