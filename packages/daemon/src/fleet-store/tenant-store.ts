import type { Store } from "@codexkit/store";
import type { Tenant, TenantLimits } from "../api/fleet.ts";
import type { AuditLog } from "../database/audit-log.ts";
import type { DaemonTables, TenantRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { isWaiting } from "../session-store/waiting-sessions.ts";
import { DEFAULT_TENANT } from "../session-store/new-session-row.ts";

/** Tenants: groups of tokens, each with its own limits. */
export class TenantStore {
  readonly #store: Store<DaemonTables>;
  readonly #audit: AuditLog;

  constructor(store: Store<DaemonTables>, audit: AuditLog) {
    this.#store = store;
    this.#audit = audit;
  }

  async list(): Promise<readonly Tenant[]> {
    const rows = await this.#store.db.selectFrom("tenant").selectAll().orderBy("id").execute();
    const use = await this.#countUse();
    return rows.map((row) => viewTenant(row, use));
  }

  async put(id: string, limits: TenantLimits, by: string): Promise<Tenant> {
    const { maxActive, maxWaiting, weight } = limits;
    const columns = { max_active: maxActive, max_waiting: maxWaiting, weight };
    const row = await this.#store.db.transaction().execute(async (trx) => {
      const stored = await trx
        .insertInto("tenant")
        .values({ id, ...columns })
        .onConflict((conflict) => conflict.column("id").doUpdateSet(columns))
        .returningAll()
        .executeTakeFirstOrThrow();
      await this.#audit.record({ by, action: "tenant.changed", subject: id, detail: { ...limits } }, trx);
      return stored;
    });
    return viewTenant(row, await this.#countUse());
  }

  /** Rejects with `unprocessable` if the tenant does not exist. A misspelt tenant would have no limits. */
  async require(id: string): Promise<void> {
    if (id === DEFAULT_TENANT) return;
    const row = await this.#store.db
      .selectFrom("tenant")
      .select("id")
      .where("id", "=", id)
      .executeTakeFirst();
    if (row) return;
    throw new DaemonError("unprocessable", `There is no tenant "${id}". Create it with PUT /tenants/${id}.`);
  }

  async #countUse(): Promise<readonly TenantUse[]> {
    return this.#store.db
      .selectFrom("session")
      .select(["tenant_id as id", ({ fn }) => fn.count<number>("node_id").as("active")])
      .select(({ fn }) => fn.countAll<number>().as("all"))
      .where((where) =>
        where.or([
          where.and([where("node_id", "is not", null), where("phase", "<>", "deleted")]),
          isWaiting(where, this.#store),
        ]),
      )
      .groupBy("tenant_id")
      .execute();
  }
}

interface TenantUse {
  readonly id: string;
  readonly active: number;
  /** Includes sessions that wait for a node. */
  readonly all: number;
}

function viewTenant(
  { id, max_active: maxActive, max_waiting: maxWaiting, weight }: TenantRow,
  use: readonly TenantUse[],
): Tenant {
  const { active = 0, all = 0 } = use.find((each) => each.id === id) ?? {};
  return { id, maxActive, maxWaiting, weight, active, waiting: all - active };
}
