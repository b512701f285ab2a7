import type { CallOptions } from "@codexkit/rpc";
import { CodexError } from "../errors.ts";

/** One page of a list. `nextCursor` is null on the last page. */
export interface Page<Entry> {
  readonly data: readonly Entry[];
  readonly nextCursor: string | null;
}

/** Options for reading a whole list. */
export interface ListOptions extends CallOptions {
  /** Entries per page. Default: the server's. */
  readonly pageSize?: number;
}

/** Options for reading one page. */
export interface PageOptions extends CallOptions {
  /** The `nextCursor` of the previous page. Default: the first page. */
  readonly cursor?: string | null;
  readonly limit?: number;
}

/** Returns the options that are sent to the server. */
export function toPageParams({ cursor, limit }: PageOptions): {
  cursor: string | null;
  limit: number | null;
} {
  return { cursor: cursor ?? null, limit: limit ?? null };
}

/** Yields all entries of a list that `readPage` reads page by page, with the same filters for every page. */
export function listPages<Filters, Entry>(
  options: ListOptions & Filters,
  readPage: (options: PageOptions & Filters) => Promise<Page<Entry>>,
): AsyncGenerator<Entry, void, undefined> {
  const limit = options.pageSize === undefined ? {} : { limit: options.pageSize };
  return paginate((cursor) => readPage({ ...options, ...limit, cursor }));
}

/**
 * Yields all entries of a list. Pages are requested as the reader reaches them. Rejects if the server returns a cursor twice,
 * because the list would never end.
 */
export async function* paginate<Entry>(
  readPage: (cursor: string | null) => Promise<Page<Entry>>,
): AsyncGenerator<Entry, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: Page<Entry> = await readPage(cursor);
    yield* page.data;
    cursor = page.nextCursor;
    if (cursor !== null && seen.has(cursor)) {
      throw new CodexError(
        "request_failed",
        `The list does not end: the server returned the cursor "${cursor}" twice.`,
      );
    }
    if (cursor !== null) seen.add(cursor);
  } while (cursor !== null);
}
