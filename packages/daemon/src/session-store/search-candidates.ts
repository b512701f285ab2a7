import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { DaemonTables } from "../database/tables.ts";

/** Characters per trigram. Shorter texts are not indexed. */
const GROUP = 3;
/** With more candidates than this, a scan from the newest session fills a page faster. */
const MAX_CANDIDATES = 1_000;

/**
 * Finds sessions that may contain a text, with the trigram index. Undefined if the index does not help for this text.
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
