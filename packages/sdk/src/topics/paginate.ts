import type { CallOptions } from "@codexkit/rpc";
import { CodexError } from "../errors.ts";

/** One page of a list, and where the next begins; `null` when this is the last. */
export interface Page<Entry> {
  readonly data: readonly Entry[];
  readonly nextCursor: string | null;
}

/** How a list is read to its end. */
export interface ListOptions extends CallOptions {
  /** How many entries a page has; the server's own number unless told. */
  readonly pageSize?: number;
}

/** Which page of a list is read. */
export interface PageOptions extends CallOptions {
  /** The `nextCursor` of the page before; the first page without it. */
  readonly cursor?: string | null;
  readonly limit?: number;
}

/** The part of the options that goes to the server. */
export function pageParams({ cursor, limit }: PageOptions): { cursor: string | null; limit: number | null } {
  return { cursor: cursor ?? null, limit: limit ?? null };
}

/** The page at a cursor, when a list is read to its end. */
export function pageAt(cursor: string | null, { pageSize, ...call }: ListOptions): PageOptions {
  return { ...call, cursor, ...(pageSize === undefined ? {} : { limit: pageSize }) };
}

/**
 * Every entry of a paged list, page by page as the reader comes to it. A server that gives the same cursor twice would be
 * read for ever: it ends with an error.
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
        `The list does not end: the server gave the cursor "${cursor}" twice.`,
      );
    }
    if (cursor !== null) seen.add(cursor);
  } while (cursor !== null);
}
