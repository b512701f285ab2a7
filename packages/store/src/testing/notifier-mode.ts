import type { Store } from "../store.ts";

/** For tests. Resolves when the notifier is in the given mode. */
export async function modeBecomes(store: Pick<Store<object>, "notifier">, mode: string): Promise<void> {
  while (store.notifier.mode !== mode) {
    const { promise, resolve } = Promise.withResolvers<void>();
    // Every change of mode calls the listeners.
    using _listening = store.notifier.subscribe("any", () => resolve());
    await promise;
  }
}
