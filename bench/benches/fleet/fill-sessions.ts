import { sql } from "kysely";
import type { Database } from "../../../packages/daemon/src/database.ts";

export const EVENTS_PER_SESSION = 20;

/** Sessions with the word that a search looks for. */
const FOUND = 5;

const SETTINGS = '{"permissionMode":"workspace-write","agentMode":"build","approvalPolicy":"on-request"}';
const DELTA = '{"threadId":"thread","kind":"message","delta":" a few words","offset":0}';

/**
 * Stores idle sessions with 20 events each, as many past ones of a real store. Made by the store itself, because millions of rows would
 * take minutes one by one.
 */
export async function fillSessions({ store }: Database, sessions: number): Promise<void> {
  const { db, kind } = store;
  const numbers = (count: number, name: string) =>
    kind === "postgres"
      ? sql`generate_series(1, ${sql.lit(count)}) as ${sql.ref(name)}(n)`
      : sql`(with recursive series(n) as (select 1 union all select n + 1 from series where n < ${sql.lit(count)}) select n from series) as ${sql.ref(name)}`;
  const id =
    kind === "postgres" ? sql`'past-' || lpad(s.n::text, 8, '0')` : sql`'past-' || printf('%08d', s.n)`;
  // A search finds as many in a large store as in a small one.
  const name = sql`case when s.n % ${sql.lit(sessions / FOUND)} = 7 then 'Repair the quokka importer ' || s.n else 'Look at module ' || s.n end`;
  await sql`
    insert into session (id, tenant_id, thread_id, name, cwd, settings, setup, phase, preview, created_at, updated_at,
      epoch, last_seq, first_seq, merged_seq, priority, needs, last_node, codex_version)
    select ${id}, 'default', 'thread-' || s.n, ${name}, '/work/project-' || (s.n % 100), ${SETTINGS}, '{}', 'idle',
      'Please look at the failing test in module ' || s.n || ' and tell me what is wrong with it',
      1000 * s.n, 1000 * s.n, 1, ${sql.lit(EVENTS_PER_SESSION)}, 1, ${sql.lit(EVENTS_PER_SESSION)}, 0, '[]', 'bench', '0.166.0'
    from ${numbers(sessions, "s")}`.execute(db);
  await sql`
    insert into event (session_id, seq, epoch, at, type, turn_id, item_id, data)
    select ${id}, e.n, 1, 1000 * s.n, case when e.n % 5 = 0 then 'item.completed' else 'item.delta' end, 'turn', 'item', ${DELTA}
    from ${numbers(sessions, "s")} cross join ${numbers(EVENTS_PER_SESSION, "e")}`.execute(db);
  await sql.raw(kind === "postgres" ? "vacuum analyze" : "analyze").execute(db);
}
