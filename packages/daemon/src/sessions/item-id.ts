import { createHash } from "node:crypto";

/** What an index of Postgres and an exported file accept. */
const ORDINARY = /^[\x21-\x7e]{1,256}$/;

/** Returns the ID of an item as the journal has it. Models choose the IDs of their calls, so any other text is replaced by its hash. */
export function toItemId(id: string): string {
  return ORDINARY.test(id) ? id : `sha256-${createHash("sha256").update(id).digest("hex")}`;
}

/** Returns the item with the ID that the journal has. */
export function withItemId<Item extends { readonly id: string }>(item: Item): Item {
  const id = toItemId(item.id);
  return id === item.id ? item : { ...item, id };
}
