import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { DaemonTables } from "../database/tables.ts";

/** Letters per group in the index. Shorter texts are not in it. */
const GROUP = 3;
/** With more candidates than this, looking at the newest sessions one by one finds a page sooner. */
const MAX_CANDIDATES = 1_000;

/**
 * Sessions that may contain a text, by the index of their letters. Undefined if the index is of no use for it.
 *
 * @param text In lower case.
 */
export async function searchCandidates(
  { db, kind }: Store<DaemonTables>,
  text: string,
): Promise<readonly string[] | undefined> {
  if (text.length < GROUP) return undefined;
  const matches =
    kind === "sqlite"
      ? sql`text match ${`"${text.replaceAll('"', '""')}"`}`
      : sql`codexkit_trigrams(text) @> codexkit_trigrams(${text})`;
  const { rows } = await sql<{ session_id: string }>`
    select session_id from session_search where ${matches} limit ${sql.lit(MAX_CANDIDATES + 1)}`.execute(db);
  return rows.length > MAX_CANDIDATES ? undefined : rows.map((row) => row.session_id);
}
