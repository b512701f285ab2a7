import { onCleanup } from "solid-js";
import { createKeyRegistry, type KeyBinding, type KeyScope } from "./key-registry.ts";

export type { KeyBinding, KeyScope } from "./key-registry.ts";

export const registry = createKeyRegistry();

/**
 * Adds key bindings until the caller's owner is disposed of. Bindings without an element act on the whole page, except in
 * text fields; those with one act only while the focus is inside it, and win.
 */
export function useKeys(
  scope: KeyScope,
  bindings: readonly KeyBinding[],
  element?: () => HTMLElement | undefined,
): void {
  onCleanup(registry.add({ scope, bindings, ...(element && { element }) }));
}
