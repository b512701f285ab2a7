import { onCleanup } from "solid-js";
import { KEY_CATALOGUE, type KeyDefinition, type KeyId, type KeyScope } from "./key-catalogue.ts";
import { type KeyBinding, KeyRegistry } from "./key-registry.ts";

export const keyRegistry = new KeyRegistry();

/**
 * Binds shortcuts of the catalogue to handlers, until the caller's owner is disposed of. Without an element, they are active on
 * the whole page, except in text fields. With an element, they are active only while the focus is inside it, and take
 * precedence.
 */
export function useKeys<Scope extends KeyScope>(
  scope: Scope,
  handlers: { readonly [Id in KeyId<Scope>]?: KeyBinding["run"] },
  element?: () => HTMLElement | undefined,
): void {
  const definitions: Readonly<Record<string, KeyDefinition>> = KEY_CATALOGUE[scope];
  const bindings = Object.entries<KeyBinding["run"] | undefined>(handlers).flatMap(([id, run]) => {
    const definition = definitions[id];
    return definition && run ? [{ id, ...definition, run }] : [];
  });
  onCleanup(keyRegistry.add({ scope, bindings, ...(element && { element }) }));
}
