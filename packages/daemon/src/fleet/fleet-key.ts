import { randomBytes } from "node:crypto";
import type { Store } from "@codexkit/store";
import type { DaemonTables } from "../database/tables.ts";

const KEY_ID = "forwarding";
const KEY_BYTES = 32;

export interface CurrentKey {
  readonly secret: Uint8Array;
  /** The store's time. The clocks of the nodes may differ. */
  readonly now: Date;
}

/**
 * The secret with which the nodes of a fleet sign forwarded requests. The first node that needs it creates it. It is read for each
 * request, so deleting its row replaces it: the next request creates a new secret, and tokens signed with the old one become
 * invalid immediately.
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
      // If another node was faster, its key is used.
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
    return read();
  };
  const row = (await read()) ?? (await create());
  if (!row)
    throw new Error(
      "The key for forwarded requests was deleted while this node was creating it. Repeat the request.",
    );
  return { secret: Buffer.from(row.secret, "base64url"), now: new Date(row.now) };
}
