import { createSignal, getListener, type Signal } from "solid-js";

/** A map whose readers run again when the entry they read changes. Signals exist only for entries that have readers. */
export class ReactiveMap<Value> {
  readonly #values = new Map<string, Value>();
  readonly #signals = new Map<string, Signal<unknown>>();
  readonly #all = createSignal<unknown>(undefined, { equals: false });

  get(key: string): Value | undefined {
    if (getListener()) this.#signal(key)[0]();
    return this.#values.get(key);
  }

  values(): readonly Value[] {
    this.#all[0]();
    return [...this.#values.values()];
  }

  /** The value without making the caller a reader of it. */
  peek(key: string): Value | undefined {
    return this.#values.get(key);
  }

  get size(): number {
    return this.#values.size;
  }

  keys(): IterableIterator<string> {
    return this.#values.keys();
  }

  set(key: string, value: Value): void {
    this.#values.set(key, value);
    this.#notify(key);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#notify(key);
  }

  clear(): void {
    for (const key of this.#values.keys()) this.delete(key);
  }

  #signal(key: string): Signal<unknown> {
    let signal = this.#signals.get(key);
    if (!signal) {
      signal = createSignal<unknown>(undefined, { equals: false });
      this.#signals.set(key, signal);
    }
    return signal;
  }

  #notify(key: string): void {
    this.#signals.get(key)?.[1](undefined);
    this.#all[1](undefined);
  }
}
