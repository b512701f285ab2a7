import { KEY_CATALOGUE, type KeyDefinition, type KeyScope } from "./key-catalogue.ts";

/**
 * Finds a shortcut that conflicts with new keys, in the same scope or the global one. Within a scope, keys also conflict with a
 * sequence that begins with them, because it could no longer be typed. Undefined if there is no conflict.
 */
export function findConflict(
  scope: KeyScope,
  id: string,
  keys: string,
  changed: Readonly<Record<string, string>>,
): (KeyDefinition & { readonly id: string }) | undefined {
  const scopes: readonly KeyScope[] =
    scope === "everywhere" ? (Object.keys(KEY_CATALOGUE) as KeyScope[]) : [scope, "everywhere"];
  for (const other of scopes) {
    for (const [otherId, definition] of Object.entries<KeyDefinition>(KEY_CATALOGUE[other])) {
      if (otherId === id || isOtherScreen(id, otherId)) continue;
      const taken = changed[otherId] ?? definition.keys;
      if (taken !== "" && isPrefix(taken, keys)) return { id: otherId, ...definition, keys: taken };
    }
  }
  return undefined;
}

/** The inbox and the list of sessions are never shown together. */
function isOtherScreen(id: string, otherId: string): boolean {
  const isInbox = (one: string): boolean => one.startsWith("inbox.");
  const isList = (one: string): boolean => one.startsWith("list.");
  return (isInbox(id) && isList(otherId)) || (isList(id) && isInbox(otherId));
}

/** Whether one begins with all keys of the other. */
function isPrefix(one: string, other: string): boolean {
  const [long, short] = one.length > other.length ? [one, other] : [other, one];
  return long === short || long.startsWith(`${short} `);
}
