/** The used methods of the browser's storage. */
export type KeyValueStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const PREFIX = "codexkit.";

/**
 * A value in the browser's storage. Reading never fails: a missing, invalid or outdated value is replaced by the default. The
 * page also works if the storage is full or blocked.
 */
export interface StoredValue<Value> {
  read(): Value;
  /** Returns whether the value was stored. Undefined removes it. */
  write(value: Value | undefined): boolean;
}

export function storedValue<Value>(
  name: string,
  parse: (value: unknown) => Value,
  storage: KeyValueStorage | undefined = browserStorage(),
): StoredValue<Value> {
  const key = PREFIX + name;
  return {
    read: () => parse(readJson(storage, key)),
    write: (value) => {
      try {
        if (value === undefined) storage?.removeItem(key);
        else storage?.setItem(key, JSON.stringify(value));
        return storage !== undefined;
      } catch {
        return false;
      }
    },
  };
}

function readJson(storage: KeyValueStorage | undefined, key: string): unknown {
  try {
    const text = storage?.getItem(key) ?? null;
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined where cookies and site data are blocked. */
function browserStorage(): KeyValueStorage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}
