import { randomBytes } from "node:crypto";
import type { Store } from "@codexkit/store";
import type { DaemonTables } from "../database/tables.ts";

const KEY_ID = "forwarding";
const KEY_BYTES = 32;

export interface CurrentKey {
  readonly secret: Uint8Array;
  /** By the store's clock: those of the nodes may differ. */
  readonly now: Date;
}

/**
 * The secret that the nodes of a fleet sign forwarded requests with. The first node that needs it creates it. It is read for each
 * request, so that it is replaced by deleting its row: the next request creates another one, and tokens of the old one are invalid
 * at once.
 */
export async function readFleetKey(store: Store<DaemonTables>): Promise<CurrentKey> {
  const read = async () =>
    store.db
      .selectFrom("fleet_key")
      .select(["secret", store.now.as("now")])
      .where("id", "=", KEY_ID)
      .executeTakeFirst();
  const create = async () => {
    await store.db
      .insertInto("fleet_key")
      .values({ id: KEY_ID, secret: randomBytes(KEY_BYTES).toString("base64url"), created_at: store.now })
      // Another node was faster, and its key counts.
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
    return read();
  };
  const row = (await read()) ?? (await create());
  if (!row) throw new Error("The key of the fleet was deleted while it was created.");
  return { secret: Buffer.from(row.secret, "base64url"), now: new Date(row.now) };
}
