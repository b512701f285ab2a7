import type { Notifier } from "@codexkit/store";
import { BoundedMap, SerialQueue } from "@codexkit/rpc/async";

interface ChangedRow {
  readonly id: string;
  readonly updated_at: number;
}

export interface ChangeFeedOptions<Row extends ChangedRow> {
  readonly notifier: Notifier;
  readonly key: string;
  /** Returns rows that changed at or after a time, oldest change first. */
  readonly changedSince: (
    updatedAt: number,
    options: { readonly afterId?: string; readonly limit: number },
  ) => Promise<readonly Row[]>;
  /** The store's clock. */
  readonly now: () => Promise<number>;
  /**
   * How far each query goes back, in milliseconds, because a transaction can be committed after another one that has a
   * later time.
   */
  readonly overlapMs: number;
  /** Distinguishes two changes within the same millisecond. */
  readonly revision: (row: Row) => string;
  readonly onError: (error: unknown) => void;
}

const PAGE = 200;
const REMEMBERED = 10_000;

/** Reads changed rows once for all streams of this process. */
export class ChangeFeed<Row extends ChangedRow> {
  readonly #options: ChangeFeedOptions<Row>;
  readonly #listeners = new Set<(rows: readonly Row[]) => void>();
  readonly #seen = new BoundedMap<string, string>(REMEMBERED);
  readonly #queue = new SerialQueue();
  #subscription: Disposable | undefined;
  /** Time of the newest change that has been read. */
  #mark = 0;

  constructor(options: ChangeFeedOptions<Row>) {
    this.#options = options;
  }

  /** Time up to which the listeners have received all changes. */
  get mark(): number {
    return this.#mark;
  }

  /**
   * Calls the listener with rows that change from now on. Resolves when the subscription can't miss a change any more.
   */
  async subscribe(listener: (rows: readonly Row[]) => void): Promise<Disposable> {
    if (this.#listeners.size === 0) {
      const { notifier, key } = this.#options;
      this.#mark = 0;
      this.#subscription = notifier.subscribe(key, () => this.#query());
    }
    this.#listeners.add(listener);
    await this.#read();
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size > 0) return;
        this.#subscription?.[Symbol.dispose]();
        this.#subscription = undefined;
      },
    };
  }

  /** Yields rows that changed since a time, including the overlap, in pages. */
  async *since(time: number): AsyncGenerator<readonly Row[]> {
    let from = Math.max(0, time - this.#options.overlapMs);
    let afterId: string | undefined;
    for (;;) {
      const rows = await this.#options.changedSince(from, {
        ...(afterId !== undefined && { afterId }),
        limit: PAGE,
      });
      if (rows.length > 0) yield rows;
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) return;
      from = last.updated_at;
      afterId = last.id;
    }
  }

  /** Starts a query. Notifications that arrive while a query is waiting to start don't need another query. */
  #query(): void {
    if (this.#queue.size > 1) return;
    this.#read().catch(this.#options.onError);
  }

  async #read(): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#mark === 0) this.#mark = await this.#options.now();
      for await (const rows of this.since(this.#mark)) {
        const fresh = rows.filter((row) => this.#isNew(row));
        this.#mark = Math.max(this.#mark, rows.at(-1)?.updated_at ?? 0);
        if (fresh.length > 0) for (const listener of this.#listeners) listener(fresh);
      }
    });
  }

  #isNew(row: Row): boolean {
    const revision = this.#options.revision(row);
    if (this.#seen.get(row.id) === revision) return false;
    this.#seen.set(row.id, revision);
    return true;
  }
}
