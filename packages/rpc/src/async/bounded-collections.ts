/** A set that keeps the newest `limit` values. Adding one more removes the oldest; adding a value again makes it the newest. */
export class BoundedSet<Value> extends Set<Value> {
  readonly #limit: number;
  readonly #onEvict: ((value: Value) => void) | undefined;
  #oldest: Iterator<Value> | undefined;

  constructor(limit: number, onEvict?: (value: Value) => void) {
    super();
    this.#limit = limit;
    this.#onEvict = onEvict;
  }

  override add(value: Value): this {
    this.delete(value);
    super.add(value);
    if (this.size <= this.#limit) return this;
    const oldest = nextOldest((this.#oldest ??= this.values()), () => (this.#oldest = this.values()));
    this.delete(oldest);
    this.#onEvict?.(oldest);
    return this;
  }
}

/** A map that keeps the newest `limit` entries. Setting one more removes the oldest; setting a key again makes it the newest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;
  readonly #onEvict: ((value: Value, key: Key) => void) | undefined;
  #oldest: Iterator<Key> | undefined;

  constructor(limit: number, onEvict?: (value: Value, key: Key) => void) {
    super();
    this.#limit = limit;
    this.#onEvict = onEvict;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size <= this.#limit) return this;
    const oldestKey = nextOldest((this.#oldest ??= this.keys()), () => (this.#oldest = this.keys()));
    const oldestValue = this.get(oldestKey) as Value;
    this.delete(oldestKey);
    this.#onEvict?.(oldestValue, oldestKey);
    return this;
  }
}

/**
 * Returns the next value of an iterator that is reused by all evictions. All values that it has returned were evicted, so its
 * next value is the oldest. A new iterator would first walk over the slots of all evicted values, making each eviction slow.
 */
function nextOldest<Value>(iterator: Iterator<Value>, restart: () => Iterator<Value>): Value {
  const { done, value } = iterator.next();
  // An exhausted iterator stays exhausted, even if values are added later.
  return done ? (restart().next().value as Value) : value;
}
