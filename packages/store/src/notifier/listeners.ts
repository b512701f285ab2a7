import type { Hint } from "./notifier.ts";

/** Listeners by key. If a listener throws, the others are still called. */
export class Listeners {
  readonly #byKey = new Map<string, Set<(hint: Hint) => void>>();
  readonly #onWarning: (error: Error) => void;

  constructor(onWarning: (error: Error) => void) {
    this.#onWarning = onWarning;
  }

  add(key: string, listener: (hint: Hint) => void): Disposable {
    // A listener that subscribes twice must be called twice, and removed once per subscription.
    const own = (hint: Hint): void => listener(hint);
    let listeners = this.#byKey.get(key);
    if (!listeners) this.#byKey.set(key, (listeners = new Set()));
    listeners.add(own);
    return {
      [Symbol.dispose]: () => {
        listeners.delete(own);
        if (listeners.size === 0 && this.#byKey.get(key) === listeners) this.#byKey.delete(key);
      },
    };
  }

  call(keys: Iterable<string>): void {
    for (const key of keys) {
      for (const listener of this.#byKey.get(key) ?? []) this.#callOne(listener, "notified");
    }
  }

  callAll(hint: Hint): void {
    for (const listeners of this.#byKey.values()) {
      for (const listener of listeners) this.#callOne(listener, hint);
    }
  }

  #callOne(listener: (hint: Hint) => void, hint: Hint): void {
    try {
      listener(hint);
    } catch (error) {
      this.#onWarning(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
