import { BoundedMap } from "@codexkit/rpc/async";
import type { Quota } from "../api/account.ts";
import type { FileMatch } from "../api/file.ts";
import type { AppServer } from "../codex/app-server.ts";
import type { CodexPool } from "../codex/pool.ts";
import { readAccount, readModels, readQuotas, searchFiles } from "./catalog.ts";
import type { AccountSummary, ModelSummary } from "./runner.ts";

/** How long the model catalog and the quotas are cached. */
const KEEP_MS = 60_000;

/** Calls to Codex that belong to no session. */
export class CodexQueries {
  readonly #pool: CodexPool;
  readonly #cache = new BoundedMap<string, { readonly until: number; readonly value: Promise<unknown> }>(2);

  constructor(pool: CodexPool) {
    this.#pool = pool;
  }

  async models(signal?: AbortSignal): Promise<readonly ModelSummary[]> {
    return this.#cached("models", () => this.#withCodex((codex) => readModels(codex)), signal);
  }

  async account(signal?: AbortSignal): Promise<AccountSummary> {
    signal?.throwIfAborted();
    return this.#withCodex((codex) => readAccount(codex));
  }

  async quotas(signal?: AbortSignal): Promise<readonly Quota[]> {
    return this.#cached("quotas", () => this.#withCodex((codex) => readQuotas(codex)), signal);
  }

  async searchFiles(
    query: string,
    options: { readonly folder: string; readonly signal?: AbortSignal },
  ): Promise<readonly FileMatch[]> {
    return this.#withCodex((codex) => searchFiles(codex, query, options));
  }

  async #withCodex<Value>(use: (codex: AppServer["codex"]) => Promise<Value>): Promise<Value> {
    using lease = await this.#pool.acquire({ sessionId: "", dedicated: false });
    return await use(lease.server.codex);
  }

  async #cached<Value>(key: string, read: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    signal?.throwIfAborted();
    const kept = this.#cache.get(key);
    if (kept && kept.until > Date.now()) return kept.value as Promise<Value>;
    const value = read();
    this.#cache.set(key, { until: Date.now() + KEEP_MS, value });
    value.catch(() => this.#cache.delete(key));
    return value;
  }
}
