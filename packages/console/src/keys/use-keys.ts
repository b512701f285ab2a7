import { onCleanup } from "solid-js";
import { type KeyBinding, KeyRegistry, type KeyScope } from "./key-registry.ts";

export const keyRegistry = new KeyRegistry();

/**
 * Adds key bindings until the caller's owner is disposed of. Bindings without an element act on the whole page, except in
 * text fields; those with one act only while the focus is inside it, and win.
 */
export function useKeys(
  scope: KeyScope,
  bindings: readonly KeyBinding[],
  element?: () => HTMLElement | undefined,
): void {
  onCleanup(keyRegistry.add({ scope, bindings, ...(element && { element }) }));
}
