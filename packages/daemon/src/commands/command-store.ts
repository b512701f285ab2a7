import { raceAbort } from "@codexkit/rpc/async";
import type { Store } from "@codexkit/store";
import type { AnyCommandBody, CommandBody, CommandKind } from "../api/command.ts";
import type { NewSessionEvent } from "../api/event.ts";
import type { Problem } from "../api/problem.ts";
import { fingerprint, newId } from "../database/ids.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { SessionChanges, SessionStore } from "../session-store/session-store.ts";
import type { CommandRow, DaemonTables, SessionRow } from "../database/tables.ts";
import { waitUntil } from "../database/wait-until.ts";
import { DaemonError } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import { insertCommand } from "../session-store/insert-command.ts";
import { requireFewerWaiting } from "../session-store/waiting-sessions.ts";
import { requireFewerSessions, type InsertOptions } from "../session-store/insert-session.ts";

export interface NewCommand<Kind extends CommandKind = CommandKind> {
  readonly sessionId: string;
  /** Idempotency key, unique per session. */
  readonly key: string;
  readonly kind: Kind;
  readonly body: CommandBody<Kind>;
  readonly by: string;
}

export interface SubmitOptions extends Pick<InsertOptions, "maxSessions" | "maxWaiting" | "check"> {
  /** Whether it is executed before all waiting commands. Default: false. */
  readonly isFirst?: boolean;
}

export type CommandResult =
  | { readonly ok: true; readonly [member: string]: unknown }
  | { readonly ok: false; readonly problem: Problem };

/** Changes that are stored together with the result of a command. */
export interface FinishOptions {
  /** Appended before `command.finished`. */
  readonly events?: readonly NewSessionEvent[];
  readonly changes?: SessionChanges;
  readonly also?: (trx: DaemonTransaction) => Promise<void>;
}

/** A command as its owner executes it. */
export type PendingCommand = AnyCommandBody & {
  readonly id: string;
  readonly key: string;
  readonly by: string;
  /** Set if an owner has begun it, so that it may have reached Codex. */
  readonly startedEpoch: number | null;
};

/** Stores every mutation of a session before it is acknowledged. The session's owner executes each command once. */
export class CommandStore {
  readonly #store: Store<DaemonTables>;
  readonly #journal: Journal;
  readonly #sessions: SessionStore;
  readonly #closed: AbortSignal;

  constructor(store: Store<DaemonTables>, journal: Journal, sessions: SessionStore, closed: AbortSignal) {
    this.#store = store;
    this.#journal = journal;
    this.#sessions = sessions;
    this.#closed = closed;
  }

  /**
   * Stores a command and the event `command.accepted`, and marks the session as ready. If the key was already used with
   * the same kind and body, returns the existing row; with another kind or body, rejects with `key_reused`. Rejects
   * with `session_not_found` or `session_deleted`; with `too_many_sessions` if `maxSessions` is reached; and with
   * `too_many_waiting` if the session would be added to those that wait for a node and `maxWaiting` is reached.
   */
  async submit<Kind extends CommandKind>(
    command: NewCommand<Kind>,
    { maxSessions, maxWaiting, check, isFirst }: SubmitOptions = {},
  ): Promise<{ readonly command: CommandRow; readonly isNew: boolean }> {
    const { sessionId, key, kind, body, by } = command;
    const print = fingerprint({ kind, body });
    const result = await this.#store.db.transaction().execute(async (trx) => {
      // The lock on the session's row serialises concurrent commands.
      const session = await this.#sessions.lock(trx, sessionId);
      const existing = await trx
        .selectFrom("command")
        .selectAll()
        .where("session_id", "=", sessionId)
        .where("key", "=", key)
        .executeTakeFirst();
      if (existing) return { command: requireSame(existing, print), isNew: false as const };
      this.#sessions.assertNotDeleted(session);
      check?.();
      if (maxSessions !== undefined) await requireFewerSessions(this.#store, trx, maxSessions);
      // Any node can delete a session whose node is lost, because that node may never return.
      if (kind === "delete" && isNodeLost(session)) {
        await trx
          .updateTable("session")
          .set({ needs: "[]", codex_version: null })
          .where("id", "=", sessionId)
          .execute();
      }
      // A parked session becomes ready when its approvals expire.
      const isNewlyWaiting =
        session.node_id === null && (session.ready_at === null || session.phase === "parked");
      if (maxWaiting !== undefined && isNewlyWaiting) {
        await requireFewerWaiting(this.#store, trx, { tenantId: session.tenant_id, maxWaiting });
      }
      const row = await insertCommand(
        this.#store,
        trx,
        {
          id: newId(),
          session_id: sessionId,
          key,
          fingerprint: print,
          kind,
          body: JSON.stringify(body),
          by,
        },
        isFirst === undefined ? {} : { isFirst },
      );
      const isWaiting = session.node_id === null && session.phase === "idle";
      const events = await this.#journal.appendAsClient(
        trx,
        sessionId,
        [{ type: "command.accepted", commandId: row.id, key, kind }],
        {
          ready_at: Math.min(session.ready_at ?? row.created_at, row.created_at),
          ...(isWaiting && { phase: "ready" }),
        },
      );
      return { command: row, isNew: true as const, events, hasOwner: session.node_id !== null };
    });
    if (result.isNew) {
      this.#journal.publish(
        [{ sessionId, events: result.events }],
        // A running owner polls for its own commands. Commands of a lost node are found by the next poll of another
        // node.
        [notificationKeys.commands(sessionId), ...(result.hasOwner ? [] : [notificationKeys.ready])],
      );
    }
    return { command: result.command, isNew: result.isNew };
  }

  async get(id: string): Promise<CommandRow | undefined> {
    return this.#store.db.selectFrom("command").selectAll().where("id", "=", id).executeTakeFirst();
  }

  /** Returns the command with an idempotency key. */
  async find(sessionId: string, key: string): Promise<CommandRow | undefined> {
    return this.#store.db
      .selectFrom("command")
      .selectAll()
      .where("session_id", "=", sessionId)
      .where("key", "=", key)
      .executeTakeFirst();
  }

  /** Returns unfinished commands in the order of execution. */
  async pending(sessionId: string): Promise<readonly PendingCommand[]> {
    return (await this.unfinished(sessionId)).map(
      (row) =>
        ({
          id: row.id,
          key: row.key,
          by: row.by,
          startedEpoch: row.started_epoch,
          kind: row.kind,
          body: JSON.parse(row.body) as unknown,
        }) as PendingCommand,
    );
  }

  /** Returns unfinished commands as rows, in the order of execution. */
  async unfinished(sessionId: string): Promise<readonly CommandRow[]> {
    return this.#store.db
      .selectFrom("command")
      .selectAll()
      .where("session_id", "=", sessionId)
      .where("finished_at", "is", null)
      .orderBy("position")
      .execute();
  }

  /**
   * Records that the owner is about to send the command to Codex, and appends `command.started`. Rejects with `fenced`.
   */
  async begin(owner: Ownership, id: string): Promise<void> {
    const { key, kind } = await this.#require(owner, id);
    await this.#journal.write({
      owner,
      events: [{ type: "command.started", commandId: id, key, kind }],
      also: async (trx) => {
        await trx.updateTable("command").set({ started_epoch: owner.epoch }).where("id", "=", id).execute();
      },
    });
  }

  /**
   * Stores the result and `command.finished` in one transaction. No-op if the command is already finished. Rejects with
   * `fenced`.
   */
  async finish(
    owner: Ownership,
    id: string,
    result: CommandResult,
    { events = [], changes, also }: FinishOptions = {},
  ): Promise<void> {
    const { key, kind, finished_at: finishedAt } = await this.#require(owner, id);
    if (finishedAt !== null) return;
    const json = JSON.stringify(result);
    const outcome = result.ok ? { result: withoutOk(result) } : { problem: result.problem };
    await this.#journal.write({
      owner,
      events: [...events, { type: "command.finished", commandId: id, key, kind, ...outcome }],
      ...(changes && { changes }),
      also: async (trx) => {
        await trx
          .updateTable("command")
          .set({
            finished_at: this.#store.now,
            result: owner.mask?.json(json) ?? json,
            started_epoch: owner.epoch,
          })
          .where("id", "=", id)
          .execute();
        await also?.(trx);
      },
      mayBecomeIdle: true,
      // For a fork, `also` inserts a session.
      notify: [notificationKeys.command(id), ...(also ? [notificationKeys.sessions] : [])],
    });
  }

  /**
   * Resolves to the row when the command is finished, or to its current state at the timeout. Rejects when the signal
   * aborts.
   */
  async wait(
    id: string,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<CommandRow> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const finished = waitUntil({
      notifier: this.#store.notifier,
      key: notificationKeys.command(id),
      signals: [this.#closed, timeout, ...(signal ? [signal] : [])],
      query: async () => {
        const row = await this.#requireRow(id);
        return row.finished_at === null ? undefined : row;
      },
    });
    try {
      return await raceAbort(finished, signal);
    } catch (error) {
      if (!timeout.aborted || signal?.aborted || this.#closed.aborted) throw error;
      return this.#requireRow(id);
    }
  }

  async #require(owner: Ownership, id: string): Promise<CommandRow> {
    const row = await this.#requireRow(id);
    if (row.session_id !== owner.sessionId) throw notFound(id);
    return row;
  }

  async #requireRow(id: string): Promise<CommandRow> {
    const row = await this.get(id);
    if (!row) throw notFound(id);
    return row;
  }
}

/** Returns the stored result of a command, or undefined if it is unfinished. */
export function commandResult(row: CommandRow): CommandResult | undefined {
  return row.result === null ? undefined : (JSON.parse(row.result) as CommandResult);
}

function isNodeLost({ problem }: SessionRow): boolean {
  return problem !== null && (JSON.parse(problem) as Problem).type === "node_lost";
}

function withoutOk({ ok: _ok, ...rest }: { readonly ok: true; readonly [member: string]: unknown }) {
  return rest;
}

function requireSame(row: CommandRow, print: string): CommandRow {
  if (row.fingerprint === print) return row;
  throw new DaemonError(
    "key_reused",
    `The idempotency key ${JSON.stringify(row.key)} was already used for another command. Use a new key.`,
    { details: { commandId: row.id } },
  );
}

function notFound(id: string): DaemonError {
  return new DaemonError("command_not_found", `There is no command ${id}.`);
}
