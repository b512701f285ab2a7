import type { Store } from "../store.ts";

/** For tests: resolves when the notifier is in a mode. */
export async function modeBecomes(store: Pick<Store<object>, "notifier">, mode: string): Promise<void> {
  while (store.notifier.mode !== mode) {
    const { promise, resolve } = Promise.withResolvers<void>();
    // A change of the mode calls every listener.
    using _listening = store.notifier.subscribe("any", () => resolve());
    await promise;
  }
}
