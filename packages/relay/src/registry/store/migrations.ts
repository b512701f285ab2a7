import { sql, type CreateTableBuilder, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** The schema, by migration. A released migration is never changed. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001-registry": { up: createTables },
  "0002-epochs": { up: addEpochs },
};

type ColumnType = "text" | "text?" | "bigint" | "bigint?";

const tables: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = {
  token: {
    id: "text",
    name: "text",
    hash: "text",
    scopes: "text",
    environment_id: "text?",
    created_at: "bigint",
    expires_at: "bigint?",
    revoked_at: "bigint?",
    last_used_at: "bigint?",
  },
  registration: {
    id: "text",
    environment_id: "text",
    token_id: "text",
    public_key: "text",
    ticket_hash: "text",
    ticket_expires_at: "bigint",
    registered_at: "bigint",
    node_id: "text?",
    connection_id: "text?",
    connected_at: "bigint?",
  },
  connection_grant: {
    id: "text",
    environment_id: "text",
    registration_id: "text",
    token_id: "text",
    harness_key_hash: "text",
    ticket_hash: "text",
    ticket_used_at: "bigint?",
    authorization_hash: "text",
    stream_id: "text?",
    expires_at: "bigint",
  },
  node: { id: "text", url: "text", lease_until: "bigint", started_at: "bigint" },
};

const indexes = [
  "create unique index token_hash on token (hash)",
  "create unique index registration_ticket on registration (ticket_hash)",
  "create index registration_environment on registration (environment_id)",
  "create unique index grant_ticket on connection_grant (ticket_hash)",
  "create unique index grant_authorization on connection_grant (authorization_hash)",
  "create index grant_expiry on connection_grant (expires_at)",
];

async function createTables(db: Kysely<unknown>): Promise<void> {
  for (const [name, columns] of Object.entries(tables)) {
    let table: CreateTableBuilder<string, string> = db.schema.createTable(name);
    for (const [column, type] of Object.entries(columns)) {
      table = table.addColumn(column, type.startsWith("text") ? "text" : "bigint", (definition) =>
        type.endsWith("?") ? definition : definition.notNull(),
      );
    }
    table = table.addPrimaryKeyConstraint(`${name}_pk`, ["id"]);
    await table.execute();
  }
  await db.schema
    .createTable("secret")
    .addColumn("name", "text", (definition) => definition.primaryKey())
    .addColumn("value", "text", (definition) => definition.notNull())
    .execute();
  for (const index of indexes) await sql.raw(index).execute(db);
}

async function addEpochs(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("token").addColumn("subject", "text").execute();
  await db.schema.alterTable("token").addColumn("epoch", "bigint").execute();
  await db.schema
    .createIndex("token_epoch")
    .on("token")
    .columns(["environment_id", "subject", "epoch"])
    .execute();
}
