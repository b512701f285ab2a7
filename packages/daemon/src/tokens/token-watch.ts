import type { Store } from "@codexkit/store";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTables } from "../database/tables.ts";

/** Maximum delay of a timer in Node. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * Detects when a token is revoked or expires. It makes one query per notification, regardless of how many streams use
 * the token.
 */
export class TokenWatch {
  readonly #store: Store<DaemonTables>;
  readonly #id: string;
  readonly #onEnd: () => void;
  readonly #listeners = new Set<() => void>();
  readonly #subscription: Disposable;
  #expiry: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(store: Store<DaemonTables>, id: string, onEnd: () => void) {
    this.#store = store;
    this.#id = id;
    this.#onEnd = onEnd;
    this.#subscription = store.notifier.subscribe(notificationKeys.token(id), () => this.#check());
    // It may have been revoked since the request was authenticated, and its expiry is not known yet.
    this.#check();
  }

  add(onInvalid: () => void): Disposable {
    // The same function may be added twice.
    const listener = (): void => onInvalid();
    this.#listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.#end();
      },
    };
  }

  #check(): void {
    this.#remainingMs().then(
      (remainingMs) => {
        if (this.#hasEnded) return;
        clearTimeout(this.#expiry);
        if (remainingMs <= 0) return this.#invalidate();
        if (remainingMs === Infinity) return;
        this.#expiry = setTimeout(() => this.#check(), Math.min(remainingMs, MAX_DELAY_MS));
        this.#expiry.unref();
      },
      // The store is unreachable, so no events arrive either. The next notification or poll checks the token again.
      () => {},
    );
  }

  /** Time until the token expires, by the store's clock. */
  async #remainingMs(): Promise<number> {
    const row = await this.#store.db
      .selectFrom("token")
      .select(["revoked_at", "expires_at", this.#store.now.as("now")])
      .where("id", "=", this.#id)
      .executeTakeFirst();
    if (!row || row.revoked_at !== null) return 0;
    return row.expires_at === null ? Infinity : row.expires_at - row.now;
  }

  #invalidate(): void {
    const listeners = [...this.#listeners];
    this.#end();
    for (const listener of listeners) listener();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#listeners.clear();
    this.#subscription[Symbol.dispose]();
    clearTimeout(this.#expiry);
    this.#onEnd();
  }
}
