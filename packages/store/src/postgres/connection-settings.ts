import { types, type ClientBase, type ClientConfig } from "pg";
import type { StoreLimits } from "../limits.ts";
import type { PreparedStatements } from "./prepared-statements.ts";

/** Number of failed TCP checks, one second apart, after which a connection counts as lost. */
const KEEP_ALIVE_CHECKS = 5;

export function clientConfig(url: string, limits: StoreLimits): ClientConfig {
  return {
    connectionString: url,
    keepAlive: true,
    keepAliveInitialDelayMillis: limits.keepAliveMs,
    connectionTimeoutMillis: limits.connectMs,
    query_timeout: limits.statementMs + limits.unansweredMs,
    // Counts and times are far below 2^53, so they are returned as numbers.
    types: {
      getTypeParser: (oid: Parameters<typeof types.getTypeParser>[0], format?: "text" | "binary") =>
        oid === types.builtins.INT8 || oid === types.builtins.NUMERIC
          ? Number
          : types.getTypeParser(oid, format),
    },
  };
}

/**
 * Sets the limits of a new connection in Postgres itself. This takes a query, because connection poolers
 * reject these settings as connection parameters. Resolves to false, without setting anything, if there is a
 * pooler, because its connections are shared with other clients.
 */
export async function applySettings(client: ClientBase, limits: StoreLimits): Promise<boolean> {
  const { statementMs, lockMs, keepAliveMs, unansweredMs } = limits;
  const settings = {
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: statementMs,
    // Locks held by a client whose machine has crashed must not stay for hours.
    tcp_keepalives_idle: Math.ceil(keepAliveMs / 1_000),
    tcp_keepalives_interval: 1,
    tcp_keepalives_count: KEEP_ALIVE_CHECKS,
    tcp_user_timeout: keepAliveMs + unansweredMs,
  };
  // A pooler reports a made-up process ID to its clients. This takes one round trip; settings that an old
  // server doesn't know are skipped.
  const query = {
    text: `select pg_backend_pid() = $1 as "isDirect",
      case when pg_backend_pid() = $1 then (
        select count(set_config(name, value, false)) from unnest($2::text[], $3::text[]) as setting (name, value)
        where current_setting(name, true) is not null
      ) end`,
    values: [processIdOf(client), Object.keys(settings), Object.values(settings).map(String)],
    query_timeout: limits.connectMs,
  };
  const { rows } = await client.query<{ isDirect: boolean }>(query);
  return rows[0]?.isDirect === true;
}

/** The state that a connection keeps between transactions. */
export type ConnectionState =
  | { readonly kind: "direct"; readonly statements: PreparedStatements }
  /** A pooled connection keeps no state. These settings are added to the beginning of each transaction. */
  | { readonly kind: "pooled"; readonly transactionSettings: string };

/** @param isDirect The result of `applySettings`. */
export function connectionState(
  isDirect: boolean,
  { statementMs, lockMs }: StoreLimits,
  statements: PreparedStatements,
): ConnectionState {
  if (isDirect) return { kind: "direct", statements };
  const transactionSettings = `set local statement_timeout = ${statementMs}; set local lock_timeout = ${lockMs}; set local idle_in_transaction_session_timeout = ${statementMs}`;
  return { kind: "pooled", transactionSettings };
}

/** The driver sets it, but its types don't declare it. */
function processIdOf(client: ClientBase): number {
  return (client as ClientBase & { readonly processID: number | null }).processID ?? 0;
}
