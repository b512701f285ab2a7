import { createHash } from "node:crypto";
import type { SessionSetup } from "../api/settings.ts";
import type { Database } from "../database.ts";
import type { SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { hasUrlSecrets, withoutUrlSecrets } from "../secrets/secret-mask.ts";
import { viewApproval, viewSession } from "../views.ts";
import { FORMAT, type SessionFileLine } from "./session-file.ts";

const PAGE = 1000;
const DATA_BYTES = 512 * 1024;
/** Phases in which no owner writes. */
const AT_REST: ReadonlySet<SessionRow["phase"]> = new Set(["idle", "failed", "parked", "stranded"]);

/**
 * The lines of a session's file: everything that another daemon needs to show and to continue it. Rejects with `turn_running`
 * while the session is at work.
 */
export async function exportSession(database: Database, sessionId: string): Promise<AsyncGenerator<string>> {
  const session = await database.sessions.require(sessionId);
  if (!AT_REST.has(session.phase)) {
    throw new DaemonError(
      "turn_running",
      `The session is ${session.phase}. Export it when its turn has ended.`,
    );
  }
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

async function* readSession(database: Database, row: SessionRow): AsyncGenerator<SessionFileLine> {
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
  const setup = withoutSecrets(JSON.parse(row.setup) as SessionSetup);
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
      setup,
      goal,
      preview,
      usage: row.usage,
      archivedAt,
      createdAt,
      epoch,
      firstSeq,
      mergedSeq: row.merged_seq,
      lastSeq,
    },
  };
  yield* readEvents(database, row);
  yield* readHistory(database, row);
  yield* readRollouts(database, row.id);
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
  { store, inbox }: Database,
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
  for (let cursor: string | undefined; ;) {
    const page = await inbox.list({ sessionId, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const row of page.rows) {
      const { session_id: _, ...approval } = row;
      const { answer } = viewApproval(row);
      // The view masks secret answers.
      const masked = answer && JSON.stringify(answer);
      // One that is not delivered has to be given again.
      const isLost = row.parked_at !== null && row.state === "answered" && masked !== row.answer;
      yield {
        kind: "approval",
        approval: isLost
          ? {
              ...approval,
              state: "parked",
              answer: null,
              answered_by: null,
              answered_by_name: null,
              answered_at: null,
            }
          : { ...approval, answer: masked },
      };
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return;
  }
}

async function* readRollouts({ rollouts }: Database, sessionId: string): AsyncGenerator<SessionFileLine> {
  for (const { id, path, baseId, role } of await rollouts.lineage(sessionId)) {
    const data = await rollouts.read(id);
    if (!data) continue;
    yield { kind: "rollout", id, path, baseId, role, bytes: data.length };
    for (let at = 0; at < data.length; at += DATA_BYTES) {
      yield { kind: "data", base64: Buffer.from(data.subarray(at, at + DATA_BYTES)).toString("base64") };
    }
  }
}

/** Leaves out what has values that only the creator of the session knows. */
function withoutSecrets({ mcpServers, environment, dedicated }: SessionSetup): SessionSetup {
  const open = Object.entries(mcpServers ?? {}).filter(
    ([, server]) => !("command" in server ? server.env : (server.headers ?? hasUrlSecrets(server.url))),
  );
  return {
    ...(open.length > 0 && { mcpServers: Object.fromEntries(open) }),
    ...(environment && { environment: { url: withoutUrlSecrets(environment.url) } }),
    ...(dedicated !== undefined && { dedicated }),
  };
}
