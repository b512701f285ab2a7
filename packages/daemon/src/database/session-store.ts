import type { z } from "zod";
import type { goal } from "../api/command.ts";
import type { NewSessionEvent, SessionEvent } from "../api/event.ts";
import type { Problem } from "../api/problem.ts";
import type { SessionSettings, SessionSetup } from "../api/settings.ts";
import type { TokenUsage } from "codexkit";
import type { ClaimedSession, DaemonTransaction, Ownership } from "./ownership.ts";
import type { CommandRow, SessionPhase, SessionRow } from "./tables.ts";

export interface NewSession {
  /** Default: a new UUID (version 7, so that IDs sort by time). */
  readonly id?: string;
  readonly cwd: string;
  readonly name?: string;
  readonly settings: SessionSettings;
  readonly setup?: SessionSetup;
  readonly priority?: number;
  /** Labels that a node must have to own it, such as `node:<name>` for a local workspace. */
  readonly needs?: readonly string[];
  readonly tenantId?: string;
  /** The token or user that creates it. */
  readonly by: string;
  /** Idempotency key, unique for the creator. */
  readonly key: string;
  /** Set for the fork of a thread: it exists already, so that no `create` command is needed. */
  readonly threadId?: string;
}

/** Columns that the owner changes. Values are parsed; the store serialises them. */
export interface SessionChanges {
  readonly threadId?: string;
  readonly name?: string | null;
  readonly settings?: SessionSettings;
  readonly goal?: z.infer<typeof goal> | null;
  readonly phase?: SessionPhase;
  readonly problem?: Problem | null;
  readonly activeTurnId?: string | null;
  readonly preview?: string;
  readonly usage?: TokenUsage | null;
  readonly archived?: boolean;
  readonly needs?: readonly string[];
  readonly codexVersion?: string;
}

export interface SessionQuery {
  /** Part of the name, the preview or the working folder, in any case. */
  readonly search?: string;
  /** Default: false. */
  readonly archived?: boolean | "all";
  readonly phase?: SessionPhase | readonly SessionPhase[];
  /** From the page before. */
  readonly cursor?: string;
  /** Default: 50. */
  readonly limit?: number;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** For the next page; undefined on the last one. */
  readonly nextCursor?: string;
}

export interface ClaimOptions {
  readonly nodeId: string;
  /** Sessions of former boots with this name are adopted at once. */
  readonly name: string;
  readonly limit: number;
  readonly labels: readonly string[];
  /** Sessions that a newer Codex has written are left alone. */
  readonly codexVersion: string;
}

export interface SessionStore {
  /**
   * Adds a session, its `create` command, and the events `session.created` and `command.accepted`. The same key of the same
   * creator returns the first session; with other content it rejects with `key_reused`. For a fork inside the transaction of
   * a command, pass `trx`.
   */
  insert(
    session: NewSession,
    options?: { readonly trx?: DaemonTransaction },
  ): Promise<{
    readonly session: SessionRow;
    readonly command: CommandRow | undefined;
    readonly isNew: boolean;
  }>;
  /** Deleted sessions included: see `phase`. */
  get(id: string): Promise<SessionRow | undefined>;
  /** As `get`, but rejects with `session_not_found` or `session_deleted`. */
  require(id: string): Promise<SessionRow>;
  /** Newest change first. Deleted sessions are not listed. */
  list(query?: SessionQuery): Promise<Page<SessionRow>>;
  /** Sessions changed at or after a time of the store's clock, oldest change first, deleted ones included. */
  changedSince(
    updatedAt: number,
    options?: { readonly afterId?: string; readonly limit?: number },
  ): Promise<readonly SessionRow[]>;
  countByPhase(): Promise<Readonly<Record<SessionPhase, number>>>;
  /** Takes sessions that have something to do and no owner, those of former boots, and those of nodes whose lease has ended. */
  claim(options: ClaimOptions): Promise<readonly ClaimedSession[]>;
  /** Sessions that the node owns. */
  ownedBy(nodeId: string): Promise<readonly SessionRow[]>;
  /** Gives the session up. It is claimed again when it has something to do. */
  release(owner: Ownership): Promise<void>;
  /**
   * Changes columns and appends events in one transaction. Add `session.updated` yourself where clients need it. Rejects with
   * `fenced` if the session has another owner.
   */
  update(
    owner: Ownership,
    changes: SessionChanges,
    events?: readonly NewSessionEvent[],
  ): Promise<readonly SessionEvent[]>;
  /**
   * Deletes journal, items, commands, approvals and rollouts of a deleted session, except its row and `session.deleted`
   * event, so that readers learn of the deletion.
   */
  purge(id: string): Promise<void>;
}
