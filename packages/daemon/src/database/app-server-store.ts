import type { Store } from "@codexkit/store";
import type { AppServerRow, DaemonTables } from "./tables.ts";

/** App-servers that outlive their daemon, so that the next boot on the same node can attach to them. */
export class AppServerStore {
  readonly #store: Store<DaemonTables>;

  constructor(store: Store<DaemonTables>) {
    this.#store = store;
  }

  async put(server: Omit<AppServerRow, "started_at">): Promise<void> {
    await this.#store.db
      .insertInto("app_server")
      .values({ ...server, started_at: this.#store.now })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(server))
      .execute();
  }

  async list(nodeName: string): Promise<readonly AppServerRow[]> {
    return this.#store.db
      .selectFrom("app_server")
      .selectAll()
      .where("node_name", "=", nodeName)
      .orderBy("started_at")
      .execute();
  }

  async remove(id: string): Promise<void> {
    await this.#store.db.deleteFrom("app_server").where("id", "=", id).execute();
  }
}
