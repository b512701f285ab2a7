import type { Store } from "@codexkit/store";
import { type RawBuilder, sql } from "kysely";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables } from "../database/tables.ts";
import { canRun, type NodeAbilities, type PlacementClass } from "./placement.ts";

/** A session with work and without an owner. */
export interface ReadySession {
  readonly id: string;
  readonly tenantId: string;
  readonly maxActive: number | null;
}

export interface ReadyQuery extends NodeAbilities {
  readonly name: string;
  readonly limit: number;
  /** How long a session is reserved for its previous node, in milliseconds. */
  readonly affinityMs: number;
  /** Names of other nodes that claim sessions. */
  readonly otherNodes: readonly string[];
}

type Reader = Pick<DaemonTransaction, "getExecutor">;

/** The condition of the partial index `session_claim`. Each query must contain all of it for the index to be used. */
const isWaiting = sql`node_id is null and ready_at is not null`;
const version = sql`coalesce(codex_version, '')`;

/**
 * Finds the sessions that a node may claim. Tenants take turns, in proportion to their weights; a tenant's sessions are ordered by
 * priority, then by waiting time. Each step is an index lookup, so the duration depends on the number of waiting tenants, not of
 * waiting sessions.
 */
export async function findReady(
  store: Store<DaemonTables>,
  db: Reader,
  query: ReadyQuery,
): Promise<readonly ReadySession[]> {
  const classes = (await waitingClasses(db)).filter((waiting) => canRun(waiting, query));
  if (classes.length === 0) return [];
  const { rows } = await sql<ReadySession>`
    with recursive
    class (needs, version) as (values ${sql.join(classes.map(({ needs, codexVersion }) => sql`(${text(store, needs)}, ${text(store, codexVersion)})`))}),
    waiting (needs, version, tenant) as (
      select needs, version, (${nextTenant("class")} order by tenant_id limit 1) from class
      union all
      select needs, version, (${nextTenant("waiting")} and tenant_id > waiting.tenant order by tenant_id limit 1)
      from waiting where tenant is not null
    ),
    ranked as (
      select candidate.id, candidate.tenant_id, candidate.last_node, candidate.priority, candidate.ready_at,
        row_number() over (partition by candidate.tenant_id order by candidate.priority desc, candidate.ready_at) - 1 as place
      from waiting ${candidates(store, query)}
      where waiting.tenant is not null
    )
    select ranked.id, ranked.tenant_id as "tenantId", tenant.max_active as "maxActive"
    from ranked left join tenant on tenant.id = ranked.tenant_id
    where tenant.max_active is null or place < tenant.max_active - ${activeSessions(store, sql`tenant.id`)}
    order by place / coalesce(nullif(tenant.weight, 0), 1), priority desc,
      case when last_node = ${text(store, query.name)} then 0 else 1 end, ready_at
    limit ${sql.lit(query.limit)}
  `.execute(db);
  return rows;
}

/** Number of sessions of a tenant that have an owner. Sessions without work that a lost node has left behind don't count. */
export function activeSessions(
  { now }: Store<DaemonTables>,
  tenantId: RawBuilder<unknown>,
): RawBuilder<number> {
  return sql<number>`(
    select count(*) from session
    where tenant_id = ${tenantId} and node_id is not null
      and (ready_at is not null or node_id in (select node.id from node where lease_until >= ${now}))
  )`;
}

/** Returns the distinct classes of the waiting sessions. */
export async function waitingClasses(db: Reader): Promise<readonly PlacementClass[]> {
  const next = (condition: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`(select id from session where ${isWaiting} ${condition} order by needs, ${version} limit 1)`;
  const columns = sql`found.needs, coalesce(found.codex_version, '')`;
  const { rows } = await sql<PlacementClass>`
    with recursive class (needs, version) as (
      select ${columns} from session as found where found.id = ${next(sql``)}
      union all
      select ${columns} from class
      join session as found on found.id = ${next(sql`and (needs, ${version}) > (class.needs, class.version)`)}
    )
    select needs, version as "codexVersion" from class
  `.execute(db);
  return rows;
}

function nextTenant(from: "class" | "waiting"): RawBuilder<unknown> {
  const outer = sql.ref(from);
  return sql`select tenant_id from session where ${isWaiting} and needs = ${outer}.needs and ${version} = ${outer}.version`;
}

/** The first sessions of each tenant. */
function candidates(store: Store<DaemonTables>, query: ReadyQuery): RawBuilder<unknown> {
  const { name, limit, affinityMs, otherNodes } = query;
  const affinity =
    otherNodes.length === 0
      ? sql``
      : sql`and (last_node is null or last_node = ${text(store, name)} or ready_at <= ${store.now} - ${sql.lit(affinityMs)}
          or last_node not in (${sql.join(otherNodes.map((other) => text(store, other)))}))`;
  // The unary plus keeps SQLite from using the index of `ready_at`, with which it would read all waiting sessions.
  const first = (columns: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select ${columns} from session
    where ${isWaiting} and needs = waiting.needs and ${version} = waiting.version and tenant_id = waiting.tenant
      and +ready_at <= ${store.now} and phase <> 'deleted' ${affinity}
    order by priority desc, ready_at limit ${sql.lit(limit)}`;
  return store.kind === "postgres"
    ? sql`cross join lateral (${first(sql`id, tenant_id, last_node, priority, ready_at`)}) as candidate`
    : sql`join session as candidate on candidate.id in (${first(sql`id`)})`;
}

/**
 * A text parameter. Postgres needs a cast, because it can't infer the type in a list of values; in SQLite, a cast would prevent the
 * use of the index.
 */
function text({ kind }: Store<DaemonTables>, value: string): RawBuilder<string> {
  return kind === "postgres" ? sql<string>`cast(${value} as text)` : sql<string>`${value}`;
}
