import type { Logger } from "pino";
import type { Database } from "../database.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { ApprovalRow, SessionRow } from "../database/tables.ts";
import { ChangeFeed } from "./change-feed.ts";

/** Feeds of changed sessions and approvals, shared by all multiplexed streams. */
export interface SummaryFeeds {
  readonly sessions: ChangeFeed<SessionRow>;
  readonly inbox: ChangeFeed<ApprovalRow>;
}

/**
 * Longer than the statement timeout of the journal on Postgres. SQLite has one writer, which commits in the order of
 * time.
 */
const POSTGRES_OVERLAP_MS = 10_000;

export function createSummaryFeeds({ store, sessions, inbox }: Database, logger: Logger): SummaryFeeds {
  const shared = {
    notifier: store.notifier,
    overlapMs: store.kind === "postgres" ? POSTGRES_OVERLAP_MS : 0,
    now: async () => {
      const { now } = await store.db.selectNoFrom(store.now.as("now")).executeTakeFirstOrThrow();
      return now;
    },
    onError: (error: unknown) => logger.warn({ err: error }, "could not read changed rows"),
  };
  return {
    sessions: new ChangeFeed({
      ...shared,
      key: notificationKeys.sessions,
      changedSince: async (time, options) => sessions.changedSince(time, options),
      revision: (row) => `${row.updated_at}:${row.last_seq}:${row.phase}`,
    }),
    inbox: new ChangeFeed({
      ...shared,
      key: notificationKeys.inbox,
      changedSince: async (time, options) => inbox.changedSince(time, options),
      revision: (row) => `${row.updated_at}:${row.state}`,
    }),
  };
}
