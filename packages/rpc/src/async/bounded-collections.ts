/** A set that keeps the newest `limit` values. Adding one more removes the oldest; adding a value again makes it the newest. */
export class BoundedSet<Value> extends Set<Value> {
  readonly #limit: number;
  readonly #onEvict: ((value: Value) => void) | undefined;

  constructor(limit: number, onEvict?: (value: Value) => void) {
    super();
    this.#limit = limit;
    this.#onEvict = onEvict;
  }

  override add(value: Value): this {
    this.delete(value);
    super.add(value);
    if (this.size <= this.#limit) return this;
    const [oldest] = this as Iterable<Value>;
    this.delete(oldest as Value);
    this.#onEvict?.(oldest as Value);
    return this;
  }
}

/** A map that keeps the newest `limit` entries. Setting one more removes the oldest; setting a key again makes it the newest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;
  readonly #onEvict: ((value: Value, key: Key) => void) | undefined;

  constructor(limit: number, onEvict?: (value: Value, key: Key) => void) {
    super();
    this.#limit = limit;
    this.#onEvict = onEvict;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size <= this.#limit) return this;
    const [oldest] = this as Iterable<[Key, Value]>;
    const [oldestKey, oldestValue] = oldest as [Key, Value];
    this.delete(oldestKey);
    this.#onEvict?.(oldestValue, oldestKey);
    return this;
  }
}
