import type { SessionSettings, SessionSetup } from "../api/settings.ts";
import type { CommandRow } from "../database/tables.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import { DaemonError } from "../errors.ts";

/** The tenant of tokens and sessions that name none. It has no limits unless they are set. */
export const DEFAULT_TENANT = "default";

export interface NewSessionRow {
  readonly threadId?: string | undefined;
  readonly name?: string | null | undefined;
  readonly cwd: string;
  readonly settings: SessionSettings;
  readonly setup?: SessionSetup | undefined;
  readonly priority?: number | undefined;
  readonly needs?: readonly string[] | undefined;
  readonly tenantId?: string | undefined;
  /** Whether a command is waiting, so that a node must claim the session. */
  readonly isReady: boolean;
}

/** Returns the row of a session without history. `now` is the store's clock as an SQL expression. */
export function newSessionRow<Now>(session: NewSessionRow, now: Now) {
  return {
    tenant_id: session.tenantId ?? DEFAULT_TENANT,
    thread_id: session.threadId ?? null,
    name: session.name ?? null,
    cwd: session.cwd,
    settings: JSON.stringify(session.settings),
    setup: JSON.stringify(session.setup ?? {}),
    goal: null,
    phase: session.isReady ? ("ready" as const) : ("idle" as const),
    problem: null,
    active_turn_id: null,
    preview: "",
    usage: null,
    archived_at: null,
    created_at: now,
    node_id: null,
    last_node: null,
    epoch: 0,
    last_seq: 0,
    append_id: null,
    first_seq: 1,
    merged_seq: 0,
    ready_at: session.isReady ? now : null,
    priority: session.priority ?? 0,
    needs: JSON.stringify(session.needs ?? []),
    codex_version: null,
  };
}

/**
 * Finds the command that created a session with this idempotency key. Rejects with `key_reused` if it came from a different
 * request.
 *
 * @param fingerprint Hash of the request.
 */
export async function findCreateCommand(
  db: Pick<DaemonTransaction, "selectFrom">,
  { by, key, fingerprint }: { readonly by: string; readonly key: string; readonly fingerprint: string },
): Promise<CommandRow | undefined> {
  const command = await db
    .selectFrom("command")
    .selectAll()
    .where("kind", "=", "create")
    .where("by", "=", by)
    .where("key", "=", key)
    .executeTakeFirst();
  if (!command || command.fingerprint === fingerprint) return command;
  throw new DaemonError(
    "key_reused",
    `The idempotency key ${JSON.stringify(key)} was used for another session before. Use a new key.`,
    { details: { sessionId: command.session_id } },
  );
}
