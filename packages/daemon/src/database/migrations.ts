import { sql, type ColumnDataType, type CreateTableBuilder, type Kysely } from "kysely";
import type { StoreMigration } from "@codexkit/store";

type Kind = "sqlite" | "postgres";

/**
 * The schema, by migration. A released migration is never changed. Daemons of the previous version keep writing to a
 * schema that a newer one has migrated, and may be started again. A migration therefore only adds tables, indexes, and
 * columns that are nullable or have a default. Such a migration is marked as additive.
 */
export function migrations(kind: Kind): Record<string, StoreMigration> {
  const added = (up: (schema: SchemaBuilder, db: Kysely<unknown>) => Promise<void>): StoreMigration => ({
    up: (db: Kysely<unknown>) => up(schemaBuilder(db, kind), db),
    isAdditive: true,
  });
  return {
    "0001-first": { up: (db: Kysely<unknown>) => createTables(schemaBuilder(db, kind)) },
    "0002-webhooks": added(createWebhookTables),
    "0003-parked-approvals": added((_schema, db) => addParkedColumns(db)),
    "0004-imports": added(createImportTable),
    "0005-logins": added((schema, db) => addLogins(db, schema)),
    "0006-fleet": added((schema, db) => addFleet(db, schema)),
  };
}

type ColumnSpec = "text" | "text?" | "bigint" | "bigint?" | "bytes" | "bytes?";

interface SchemaBuilder {
  readonly kind: Kind;
  readonly table: (
    name: string,
    columns: Readonly<Record<string, ColumnSpec>>,
    primaryKey: readonly string[],
  ) => CreateTableBuilder<string, string>;
  readonly index: (name: string, on: string, where?: string) => Promise<void>;
  readonly uniqueIndex: (name: string, on: string, where?: string) => Promise<void>;
}

function schemaBuilder(db: Kysely<unknown>, kind: Kind): SchemaBuilder {
  const bytes = kind === "sqlite" ? ("blob" as const) : ("bytea" as const);
  const createIndex = async (create: string, on: string, where?: string): Promise<void> => {
    await sql.raw(`${create} on ${on}${where ? ` where ${where}` : ""}`).execute(db);
  };
  return {
    kind,
    table: (name, columns, primaryKey) => {
      let builder: CreateTableBuilder<string, string> = db.schema.createTable(name);
      for (const [column, spec] of Object.entries(columns)) {
        const type = spec.replace("?", "");
        builder = builder.addColumn(
          column,
          type === "bytes" ? bytes : (type as ColumnDataType),
          (definition) => (spec.endsWith("?") ? definition : definition.notNull()),
        );
      }
      return builder.addPrimaryKeyConstraint(`${name}_pk`, [...primaryKey]);
    },
    index: (name, on, where) => createIndex(`create index ${name}`, on, where),
    uniqueIndex: (name, on, where) => createIndex(`create unique index ${name}`, on, where),
  };
}

async function createTables({ kind, table, index, uniqueIndex }: SchemaBuilder): Promise<void> {
  await table(
    "node",
    {
      id: "text",
      name: "text",
      url: "text?",
      labels: "text",
      capacity: "bigint",
      state: "text",
      lease_until: "bigint",
      version: "text",
      codex_version: "text",
      started_at: "bigint",
    },
    ["id"],
  ).execute();

  const session = table(
    "session",
    {
      id: "text",
      tenant_id: "text",
      thread_id: "text?",
      name: "text?",
      cwd: "text",
      settings: "text",
      setup: "text",
      goal: "text?",
      phase: "text",
      problem: "text?",
      active_turn_id: "text?",
      preview: "text",
      usage: "text?",
      archived_at: "bigint?",
      created_at: "bigint",
      updated_at: "bigint",
      node_id: "text?",
      last_node: "text?",
      epoch: "bigint",
      last_seq: "bigint",
      append_id: "text?",
      first_seq: "bigint",
      merged_seq: "bigint",
      ready_at: "bigint?",
      priority: "bigint",
      needs: "text",
      codex_version: "text?",
    },
    ["id"],
  );
  // Every append updates the row. With free space on the row's page, Postgres doesn't have to update any index.
  await (kind === "postgres" ? session.modifyEnd(sql`with (fillfactor = 80)`) : session).execute();
  await index("session_updated", "session (updated_at, id)");
  await index("session_ready", "session (ready_at)", "ready_at is not null");
  await index("session_node", "session (node_id)", "node_id is not null");
  await index("session_thread", "session (thread_id)", "thread_id is not null");

  const event = table(
    "event",
    {
      session_id: "text",
      seq: "bigint",
      epoch: "bigint",
      at: "bigint",
      type: "text",
      turn_id: "text?",
      item_id: "text?",
      data: "text",
    },
    ["session_id", "seq"],
  );
  await (kind === "sqlite" ? event.modifyEnd(sql`without rowid`) : event).execute();
  // Deltas are most of the events and are never looked up by type.
  await index("event_type", "event (session_id, type, seq)", "type <> 'item.delta'");

  await table(
    "item",
    {
      session_id: "text",
      item_id: "text",
      thread_id: "text",
      turn_id: "text",
      kind: "text",
      status: "text",
      first_seq: "bigint",
      last_seq: "bigint",
      completed_seq: "bigint?",
      preview: "text",
      body_length: "bigint",
    },
    ["session_id", "first_seq"],
  ).execute();
  // Models reuse call IDs, so an item ID is unique only within its turn.
  await uniqueIndex("item_id", "item (session_id, item_id, turn_id, thread_id)");
  await index("item_running", "item (session_id, first_seq)", "status = 'running'");

  await table(
    "turn",
    {
      session_id: "text",
      turn_id: "text",
      thread_id: "text",
      first_seq: "bigint",
      last_seq: "bigint",
      status: "text",
      title: "text",
      started_at: "bigint",
      ended_at: "bigint?",
      usage: "text?",
      diff_stat: "text?",
    },
    ["session_id", "turn_id"],
  ).execute();
  await index("turn_first", "turn (session_id, first_seq)");

  await table(
    "command",
    {
      id: "text",
      session_id: "text",
      key: "text",
      fingerprint: "text",
      kind: "text",
      body: "text",
      by: "text",
      created_at: "bigint",
      position: "bigint",
      started_epoch: "bigint?",
      finished_at: "bigint?",
      result: "text?",
    },
    ["id"],
  ).execute();
  await uniqueIndex("command_key", `command (session_id, "key")`);
  await uniqueIndex("command_create", `command ("by", "key")`, "kind = 'create'");
  await index("command_position", `command (session_id, "position")`);
  await index("command_pending", `command (session_id, "position")`, "finished_at is null");

  await table(
    "approval",
    {
      id: "text",
      session_id: "text",
      epoch: "bigint",
      thread_id: "text",
      turn_id: "text?",
      item_id: "text?",
      call_id: "text?",
      request_id: "text",
      kind: "text",
      fingerprint: "text",
      request: "text",
      verdict: "text?",
      offers: "text",
      state: "text",
      answer: "text?",
      answered_by: "text?",
      answered_at: "bigint?",
      note: "text?",
      created_at: "bigint",
      updated_at: "bigint",
      expires_at: "bigint?",
      rollout_bytes: "bigint?",
    },
    ["id"],
  ).execute();
  await index("approval_session", "approval (session_id, state)");
  await index("approval_state", "approval (state, id)");
  await index("approval_updated", "approval (updated_at, id)");

  await table(
    "rollout",
    { id: "text", path: "text", base_id: "text?", bytes: "bigint", image: "bytes?", image_bytes: "bigint" },
    ["id"],
  ).execute();
  await table("session_rollout", { session_id: "text", rollout_id: "text", role: "text" }, [
    "session_id",
    "rollout_id",
  ]).execute();
  await index("session_rollout_file", "session_rollout (rollout_id)");
  await table("rollout_chunk", { rollout_id: "text", at_byte: "bigint", epoch: "bigint", data: "bytes" }, [
    "rollout_id",
    "at_byte",
  ]).execute();

  await table(
    "app_server",
    {
      id: "text",
      node_name: "text",
      url: "text",
      pid: "bigint?",
      codex_home: "text",
      session_id: "text?",
      started_at: "bigint",
    },
    ["id"],
  ).execute();
  await index("app_server_node", "app_server (node_name)");

  await table(
    "token",
    {
      id: "text",
      name: "text",
      hash: "text",
      scopes: "text",
      created_at: "bigint",
      expires_at: "bigint?",
      revoked_at: "bigint?",
      last_used_at: "bigint?",
    },
    ["id"],
  ).execute();
  await uniqueIndex("token_hash", "token (hash)");

  await table(
    "audit",
    {
      id: "text",
      at: "bigint",
      by: "text",
      action: "text",
      session_id: "text?",
      subject: "text?",
      detail: "text",
    },
    ["id"],
  ).execute();
  await index("audit_session", "audit (session_id, id)", "session_id is not null");

  await table("tenant", { id: "text", max_active: "bigint?", max_waiting: "bigint?", weight: "bigint" }, [
    "id",
  ]).execute();
}

async function addParkedColumns(db: Kysely<unknown>): Promise<void> {
  // SQLite adds one column per statement.
  for (const column of ["parked_at", "submitted_at"]) {
    await db.schema.alterTable("approval").addColumn(column, "bigint").execute();
  }
  await db.schema.alterTable("approval").addColumn("progress", "text").execute();
  await sql
    .raw(
      "create index approval_parked on approval (session_id) where parked_at is not null and submitted_at is null",
    )
    .execute(db);
}

async function createWebhookTables({ table, index }: SchemaBuilder): Promise<void> {
  await table(
    "webhook",
    {
      id: "text",
      url: "text",
      secret: "text",
      events: "text",
      name: "text?",
      session_id: "text?",
      created_by: "text",
      created_at: "bigint",
      disabled_at: "bigint?",
    },
    ["id"],
  ).execute();
  await table(
    "webhook_delivery",
    {
      id: "text",
      webhook_id: "text",
      session_id: "text",
      type: "text",
      seq: "bigint",
      subject: "text?",
      state: "text",
      attempts: "bigint",
      next_at: "bigint",
      status: "bigint?",
      error: "text?",
      created_at: "bigint",
      finished_at: "bigint?",
    },
    ["id"],
  ).execute();
  await index("webhook_delivery_due", "webhook_delivery (next_at)", "state = 'pending'");
  await index("webhook_delivery_webhook", "webhook_delivery (webhook_id, id)");
}

async function createImportTable({ table }: SchemaBuilder): Promise<void> {
  await table("import", { session_id: "text", thread_id: "text?", node_name: "text", started_at: "bigint" }, [
    "session_id",
  ]).execute();
}

async function addLogins(db: Kysely<unknown>, { table, index }: SchemaBuilder): Promise<void> {
  await db.schema.alterTable("token").addColumn("parent_id", "text").execute();
  await index("token_parent", "token (parent_id)", "parent_id is not null");
  await db.schema.alterTable("approval").addColumn("answered_by_name", "text").execute();
  await table(
    "login_code",
    { hash: "text", token_id: "text", scopes: "text", created_at: "bigint", expires_at: "bigint" },
    ["hash"],
  ).execute();
}

async function addFleet(db: Kysely<unknown>, schema: SchemaBuilder): Promise<void> {
  const { kind, table, index } = schema;
  await db.schema.alterTable("token").addColumn("tenant_id", "text").execute();
  await db.schema.alterTable("session").addColumn("interrupted_turn_id", "text").execute();
  for (const [name, column] of [
    ["node", "turns"],
    ["node", "drain_requested"],
    ["rollout", "is_partial"],
  ] as const) {
    await db.schema
      .alterTable(name)
      .addColumn(column, "bigint", (definition) => definition.notNull().defaultTo(0))
      .execute();
  }
  // Sessions that wait for a node, in the order in which nodes claim them.
  await index(
    "session_claim",
    "session (needs, (coalesce(codex_version, '')), tenant_id, priority desc, ready_at)",
    "node_id is null and ready_at is not null",
  );
  await index("session_active", "session (tenant_id)", "node_id is not null");
  await table("fleet_key", { id: "text", secret: "text", created_at: "bigint" }, ["id"]).execute();
  for (const statement of kind === "sqlite" ? SQLITE_SEARCH : POSTGRES_SEARCH)
    await sql.raw(statement).execute(db);
}

/**
 * The trigram index of searches. Triggers maintain it, so that daemons of the previous version do, too. It is separate
 * from the session, whose row changes with every append. FTS5 stores the trigrams; its row IDs are those of the
 * sessions.
 */
const SQLITE_SEARCH = [
  `create virtual table session_search using fts5 (session_id unindexed, text, tokenize = 'trigram')`,
  // A search reads every segment of the index. Sessions change rarely, so merging segments early costs little.
  `insert into session_search (session_search, rank) values ('automerge', 2)`,
  ...["insert", "update of name, preview, cwd"].map(
    (event, number) => `create trigger session_search_${number} after ${event} on session begin
      delete from session_search where rowid = new.rowid;
      insert into session_search (rowid, session_id, text)
        values (new.rowid, new.id, coalesce(new.name, '') || char(10) || new.preview || char(10) || new.cwd);
    end`,
  ),
  `create trigger session_search_2 after delete on session begin
    delete from session_search where rowid = old.rowid;
  end`,
  `insert into session_search (rowid, session_id, text)
    select rowid, id, coalesce(name, '') || char(10) || preview || char(10) || cwd from session`,
];

/** Works without the extension pg_trgm, which is not available on every server. */
const POSTGRES_SEARCH = [
  `create table session_search (session_id text primary key references session (id) on delete cascade, text text not null)`,
  `create function codexkit_trigrams(text) returns text[] language sql immutable strict parallel safe as
    $$ select coalesce(array_agg(distinct substr($1, n, 3)), '{}') from generate_series(1, length($1) - 2) as n $$`,
  `create function codexkit_index_session() returns trigger language plpgsql as $$ begin
    insert into session_search values (new.id, lower(concat_ws(chr(10), new.name, new.preview, new.cwd)))
      on conflict (session_id) do update set text = excluded.text where session_search.text <> excluded.text;
    return null;
  end $$`,
  `create trigger session_search after insert or update of name, preview, cwd on session
    for each row execute function codexkit_index_session()`,
  `insert into session_search select id, lower(concat_ws(chr(10), name, preview, cwd)) from session`,
  `create index session_search_trigrams on session_search using gin (codexkit_trigrams(text))`,
];
