import type { AgentProvider } from "../../contract/agent-provider.ts";
import {
  CONFORMANCE_LIMITS,
  type ConformanceLimits,
  type ConformanceOptions,
  type ProviderFactory,
} from "./conformance-options.ts";
import type { ObservedSession } from "./observed-session.ts";
import { describeError, failure, waitFor } from "./assertions.ts";

/** State that the checks of one run share: a provider, and sessions that several checks judge. */
export class SuiteContext implements AsyncDisposable {
  readonly limits: ConformanceLimits;
  readonly options: ConformanceOptions;
  /** Every session that was opened, for the checks that judge all streams. */
  readonly sessions: ObservedSession[] = [];
  /** Every error that the provider rejected a call with. */
  readonly refusals: { readonly what: string; readonly error: unknown }[] = [];
  readonly #factory: ProviderFactory;
  readonly #shared = new Map<string, Promise<unknown>>();
  #provider: AgentProvider | undefined;
  #createError: Error | undefined;

  constructor(factory: ProviderFactory, options: ConformanceOptions) {
    this.#factory = factory;
    this.options = options;
    this.limits = { ...CONFORMANCE_LIMITS, ...options.limits };
  }

  /** The provider that most checks share. */
  async provider(): Promise<AgentProvider> {
    return (this.#provider ??= await this.make());
  }

  /** Creates a provider. A factory that failed once is not called again. */
  async make(): Promise<AgentProvider> {
    if (this.#createError) throw this.#createError;
    const { makeMs, shutdownMs } = this.limits;
    const made = (async () => this.#factory())();
    try {
      return await waitFor("creating the provider", makeMs, made);
    } catch (error) {
      // A provider that arrives late is still shut down.
      void made.then((late) => waitFor("shutdown()", shutdownMs, late.shutdown())).catch(() => {});
      this.#createError = failure(`the provider could not be created: ${describeError(error)}`, error);
      throw this.#createError;
    }
  }

  /** Runs the work once. Later callers get the same result or failure. */
  once<T>(what: string, work: () => Promise<T>): Promise<T> {
    const shared = this.#shared.get(what) ?? work();
    this.#shared.set(what, shared);
    return shared as Promise<T>;
  }

  /** Shuts down the shared provider. After a failed check its state is unknown. */
  async replaceProvider(): Promise<void> {
    const provider = this.#provider;
    this.#provider = undefined;
    if (!provider) return;
    await waitFor("shutdown() of the provider", this.limits.shutdownMs, (async () => provider.shutdown())());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.replaceProvider();
  }
}
