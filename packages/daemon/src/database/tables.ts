import type { Generated, Selectable } from "kysely";
import type { WebhookEventType } from "../api/webhook.ts";

// Columns are the same on SQLite and Postgres: text, bigint (as number), boolean as 0 | 1, blob. Times are milliseconds
// of the database's clock. JSON is stored as text, because jsonb rejects `\u0000`, which commands can print.

/** One boot of a daemon. A name can be reused, an ID can't. */
export interface NodeTable {
  id: string;
  name: string;
  url: string | null;
  labels: string;
  capacity: number;
  state: "up" | "draining";
  lease_until: number;
  version: string;
  codex_version: string;
  started_at: number;
  /** Number of running turns, as of the last lease renewal. */
  turns: Generated<number>;
  /** 1 if a client has requested that the node drains, through any node of the fleet. */
  drain_requested: Generated<number>;
}

/** A thread plus the daemon's settings and journal. `node_id` and `epoch` fence every write of its owner. */
export interface SessionTable {
  id: string;
  tenant_id: string;
  /** Null until the owner has started the thread. */
  thread_id: string | null;
  name: string | null;
  cwd: string;
  /** JSON of `SessionSettings`. */
  settings: string;
  /** JSON of `SessionSetup`. Holds secrets. */
  setup: string;
  /** JSON of `Goal`, or null. */
  goal: string | null;
  phase: SessionPhase;
  /** Why the phase is `failed` or `stranded`: JSON of a problem, or null. */
  problem: string | null;
  active_turn_id: string | null;
  /** First line of the newest message, for lists. */
  preview: string;
  /** JSON of `TokenUsage` of the whole thread, or null. */
  usage: string | null;
  archived_at: number | null;
  created_at: number;
  /** Updated with every change to a column that lists contain. */
  updated_at: number;
  node_id: string | null;
  last_node: string | null;
  epoch: number;
  last_seq: number;
  /**
   * ID of the owner's last transaction. Shows whether the transaction was committed if the connection broke during the
   * commit.
   */
  append_id: string | null;
  /** Sequence number of the oldest event that retention has kept. */
  first_seq: number;
  /** Deltas through this sequence number have been merged. */
  merged_seq: number;
  /**
   * Time since which there has been work for an owner: a command, an answer or a running turn. Null if there is none.
   */
  ready_at: number | null;
  priority: number;
  needs: string;
  codex_version: string | null;
  /**
   * The turn that the loss of a node interrupted, until the new owner has handled it according to
   * `settings.onInterrupted`. Null if there is none.
   */
  interrupted_turn_id: string | null;
}

export type SessionPhase =
  /** Has a command or an answer to carry out, but no owner that does it yet. */
  | "ready"
  | "running"
  /** A turn waits for an answer. */
  | "waiting"
  /** Waits for an answer without a process. */
  | "parked"
  | "idle"
  /** Its workspace is on a lost node. */
  | "stranded"
  | "moving"
  /** The thread can't be started or resumed; see `problem`. */
  | "failed"
  | "deleted";

export interface EventTable {
  session_id: string;
  seq: number;
  epoch: number;
  at: number;
  type: string;
  turn_id: string | null;
  item_id: string | null;
  /** JSON of the event, without the fields that are columns. */
  data: string;
}

/** The history as clients present it: one row per item, updated in the transaction that appends its events. */
export interface ItemTable {
  session_id: string;
  item_id: string;
  thread_id: string;
  turn_id: string;
  kind: string;
  status: "running" | "completed" | "failed" | "abandoned";
  /** Position in the history. */
  first_seq: number;
  /** Sequence number of the item's newest event, except deltas. */
  last_seq: number;
  /** Sequence number of the event with the complete item. Null while the item is running. */
  completed_seq: number | null;
  /** JSON of the item with truncated texts. */
  preview: string;
  /** UTF-16 length of the longest text of the complete item. */
  body_length: number;
}

export interface TurnTable {
  session_id: string;
  turn_id: string;
  thread_id: string;
  first_seq: number;
  last_seq: number;
  status: "running" | "completed" | "failed" | "interrupted";
  /** First line of the message that started the turn. */
  title: string;
  started_at: number;
  ended_at: number | null;
  /** JSON of `TokenUsage`, or null. */
  usage: string | null;
  /** JSON of `{ files, added, removed }`, or null. */
  diff_stat: string | null;
}

/** Every mutation of a session. Committed before it is acknowledged, executed exactly once by the session's owner. */
export interface CommandTable {
  id: string;
  session_id: string;
  /** Idempotency key, unique per session. */
  key: string;
  /** Hash of the kind and body. The same key with another body is a conflict. */
  fingerprint: string;
  kind: string;
  body: string;
  /** ID of the token that sent it. */
  by: string;
  created_at: number;
  /** Order of execution within the session. */
  position: number;
  /** Epoch of the owner that began it, or null. */
  started_epoch: number | null;
  finished_at: number | null;
  /** JSON of `{ ok: true, … }` or `{ ok: false, problem }`, or null until it is finished. */
  result: string | null;
}

export type ApprovalState = "open" | "answered" | "delivered" | "parked" | "withdrawn" | "expired";

/** An approval, permission request, question or elicitation of a session or one of its agents. */
export interface ApprovalTable {
  id: string;
  session_id: string;
  epoch: number;
  thread_id: string;
  turn_id: string | null;
  item_id: string | null;
  /** The model's open call, if known. */
  call_id: string | null;
  /** JSON of the request's ID on the app-server's connection. */
  request_id: string;
  kind: string;
  /** Hash of the request, used to recognise it if Codex sends it again. */
  fingerprint: string;
  /** JSON: the typed request, with its diff or parsed command. */
  request: string;
  /** JSON: the policy's verdict and reason per segment, or null. */
  verdict: string | null;
  /** JSON of the available decisions, each with what it would store. */
  offers: string;
  state: ApprovalState;
  /** JSON of the answer, or null. */
  answer: string | null;
  answered_by: string | null;
  /** The name of that token when it answered. */
  answered_by_name: string | null;
  answered_at: number | null;
  /** Why it was withdrawn or expired, or how the answer was delivered. */
  note: string | null;
  created_at: number;
  /** Updated with every change of the row. */
  updated_at: number;
  expires_at: number | null;
  /** Length of the thread's rollout file at the time of the request, needed to continue the thread later. */
  rollout_bytes: number | null;
  /** Time since which no process has been waiting for the answer, or null. */
  parked_at: number | null;
  /** When the owner started to send the answer to Codex, or null. Reset to null when the approval is parked. */
  submitted_at: number | null;
  /** JSON of `ParkedProgress`, or null. */
  progress: string | null;
}

/** A rollout file of Codex. Forks share files, so the key is Codex's ID. */
export interface RolloutTable {
  id: string;
  /** Relative to `CODEX_HOME`. */
  path: string;
  base_id: string | null;
  bytes: number;
  /** zstd of the first `image_bytes` bytes, or null. */
  image: Uint8Array | null;
  image_bytes: number;
  /** 1 if the file has exceeded the limit, so that its end is not stored. */
  is_partial: Generated<number>;
}

export interface SessionRolloutTable {
  session_id: string;
  rollout_id: string;
  role: "main" | "base" | "agent";
}

export interface RolloutChunkTable {
  rollout_id: string;
  at_byte: number;
  epoch: number;
  data: Uint8Array;
}

/** An app-server that outlives its daemon, so that the next boot on the same node can attach to it. */
export interface AppServerTable {
  id: string;
  node_name: string;
  url: string;
  pid: number | null;
  codex_home: string;
  /** ID of the session that uses it exclusively. Null for the shared server. */
  session_id: string | null;
  started_at: number;
}

export interface TokenTable {
  id: string;
  name: string;
  /** SHA-256 of the token. */
  hash: string;
  /** JSON array of scopes. */
  scopes: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /**
   * ID of the token that a browser logged in with, whose end also ends this one. Null for a token that is not a login.
   */
  parent_id: string | null;
  /** Tenant of the sessions that are created with the token. Null: the default tenant. */
  tenant_id: string | null;
}

/** A login code that has not been used yet. */
export interface LoginCodeTable {
  /** SHA-256 of the code. */
  hash: string;
  /** ID of the token that the login will belong to. */
  token_id: string;
  /** JSON array of scopes. */
  scopes: string;
  created_at: number;
  expires_at: number;
}

/** Audit log: answers, tokens, deletions. */
export interface AuditTable {
  id: string;
  at: number;
  by: string;
  action: string;
  session_id: string | null;
  subject: string | null;
  /** JSON without secrets. */
  detail: string;
}

/** A secret that the nodes of a fleet share. It is never served. */
export interface FleetKeyTable {
  id: string;
  secret: string;
  created_at: number;
}

export interface TenantTable {
  id: string;
  max_active: number | null;
  max_waiting: number | null;
  weight: number;
}

/** A URL that receives messages about sessions. */
export interface WebhookTable {
  id: string;
  url: string;
  /** Signs the messages, so it can't be stored as a hash. */
  secret: string;
  /** JSON array of `WebhookEventType`. */
  events: string;
  name: string | null;
  /** Null: all sessions. */
  session_id: string | null;
  created_by: string;
  created_at: number;
  /** When the receiver responded with 410, or null. */
  disabled_at: number | null;
}

/** A message for one webhook, stored together with the events that caused it. */
export interface WebhookDeliveryTable {
  id: string;
  webhook_id: string;
  session_id: string;
  type: WebhookEventType;
  /** Sequence number of the event that caused it. */
  seq: number;
  /** ID of the approval or turn that it is about. */
  subject: string | null;
  state: "pending" | "delivered" | "failed";
  attempts: number;
  /** When the next attempt is due. During an attempt: when the attempt counts as failed, in case its node dies. */
  next_at: number;
  /** HTTP status of the last attempt, or null. */
  status: number | null;
  error: string | null;
  created_at: number;
  finished_at: number | null;
}

/** A session that is being imported. Its rows exist, except the row of the session. */
export interface ImportTable {
  session_id: string;
  thread_id: string | null;
  /** Name of the node that imports it. */
  node_name: string;
  started_at: number;
}

export interface DaemonTables {
  node: NodeTable;
  session: SessionTable;
  event: EventTable;
  item: ItemTable;
  turn: TurnTable;
  command: CommandTable;
  approval: ApprovalTable;
  rollout: RolloutTable;
  session_rollout: SessionRolloutTable;
  rollout_chunk: RolloutChunkTable;
  app_server: AppServerTable;
  token: TokenTable;
  login_code: LoginCodeTable;
  audit: AuditTable;
  tenant: TenantTable;
  fleet_key: FleetKeyTable;
  webhook: WebhookTable;
  webhook_delivery: WebhookDeliveryTable;
  import: ImportTable;
}

export type SessionRow = Selectable<SessionTable>;
export type EventRow = Selectable<EventTable>;
export type CommandRow = Selectable<CommandTable>;
export type ApprovalRow = Selectable<ApprovalTable>;
export type NodeRow = Selectable<NodeTable>;
export type ItemRow = Selectable<ItemTable>;
export type TurnRow = Selectable<TurnTable>;
export type AppServerRow = Selectable<AppServerTable>;
export type TenantRow = Selectable<TenantTable>;
export type TokenRow = Selectable<TokenTable>;
export type WebhookRow = Selectable<WebhookTable>;
export type WebhookDeliveryRow = Selectable<WebhookDeliveryTable>;
export type AuditRow = Selectable<AuditTable>;
