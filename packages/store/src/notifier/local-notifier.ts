import { Listeners } from "./listeners.ts";
import type { Hint, Notifier } from "./notifier.ts";

/** For a store that only one process has open. No hint is ever lost, so no polling is needed. */
export class LocalNotifier implements Notifier {
  readonly mode = "local";
  readonly #listeners: Listeners;

  constructor(onWarning: (error: Error) => void) {
    this.#listeners = new Listeners(onWarning);
  }

  notify(keys: Iterable<string>): void {
    this.#listeners.call(keys);
  }

  subscribe(key: string, listener: (hint: Hint) => void): Disposable {
    return this.#listeners.add(key, listener);
  }
}
