import type { AgentProvider } from "../contract/agent-provider.ts";
import {
  CONFORMANCE_LIMITS,
  type ConformanceLimits,
  type ConformanceOptions,
  type ProviderFactory,
} from "./conformance-options.ts";
import type { WatchedSession } from "./watched-session.ts";
import { describeError, failure, within } from "./within.ts";

/** What the checks of one run share: a provider, and what is run once for several of them. */
export class Stage implements AsyncDisposable {
  readonly limits: ConformanceLimits;
  readonly options: ConformanceOptions;
  /** Every session that was opened, for the checks that judge all streams. */
  readonly sessions: WatchedSession[] = [];
  /** Every error with which the provider refused a call. */
  readonly refusals: { readonly what: string; readonly error: unknown }[] = [];
  readonly #factory: ProviderFactory;
  readonly #shared = new Map<string, Promise<unknown>>();
  #provider: AgentProvider | undefined;
  #unmakable: Error | undefined;

  constructor(factory: ProviderFactory, options: ConformanceOptions) {
    this.#factory = factory;
    this.options = options;
    this.limits = { ...CONFORMANCE_LIMITS, ...options.limits };
  }

  /** The provider that most checks share. */
  async provider(): Promise<AgentProvider> {
    return (this.#provider ??= await this.make());
  }

  /** A new provider. A factory that failed once is not waited for again. */
  async make(): Promise<AgentProvider> {
    if (this.#unmakable) throw this.#unmakable;
    const { makeMs, shutdownMs } = this.limits;
    const made = (async () => this.#factory())();
    try {
      return await within("making the provider", makeMs, made);
    } catch (error) {
      // One that comes too late is not left behind.
      void made.then((late) => within("shutdown()", shutdownMs, late.shutdown())).catch(() => {});
      this.#unmakable = failure(`no provider could be made: ${describeError(error)}`, error);
      throw this.#unmakable;
    }
  }

  /** Does something once; later callers get what came of it, a failure too. */
  once<T>(what: string, work: () => Promise<T>): Promise<T> {
    const shared = this.#shared.get(what) ?? work();
    this.#shared.set(what, shared);
    return shared as Promise<T>;
  }

  /** Puts the shared provider away: after a check that failed nobody knows what state it is in. */
  async replaceProvider(): Promise<void> {
    const provider = this.#provider;
    this.#provider = undefined;
    if (!provider) return;
    await within("shutdown() of the provider", this.limits.shutdownMs, (async () => provider.shutdown())());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.replaceProvider();
  }
}
