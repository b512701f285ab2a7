import { randomUUID } from "node:crypto";
import type { AgentHandle, AgentProvider, SpawnOptions } from "../../contract/agent-provider.ts";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import type { ConformanceLimits, ConformanceOptions, ConformanceScenarios } from "./conformance-options.ts";
import type { SuiteContext } from "./suite-context.ts";
import { type OpenedBy, ObservedSession } from "./observed-session.ts";
import { describeError, failure, assertThat, waitFor } from "./assertions.ts";

/** The context of one check. Sessions and providers that it opened are stopped when it ends. */
export class CheckContext {
  readonly provider: AgentProvider;
  readonly limits: ConformanceLimits;
  readonly #suite: SuiteContext;
  readonly #checkId: string;
  readonly #handles: AgentHandle[] = [];
  readonly #providers: AgentProvider[] = [];
  #released = false;

  constructor(suite: SuiteContext, provider: AgentProvider, checkId: string) {
    this.#suite = suite;
    this.provider = provider;
    this.limits = suite.limits;
    this.#checkId = checkId;
  }

  get scenarios(): ConformanceScenarios {
    return this.#suite.options.scenarios;
  }

  get samples(): ConformanceOptions["samples"] {
    return this.#suite.options.samples;
  }

  /** Every session of the run so far. */
  get sessions(): readonly ObservedSession[] {
    return this.#suite.sessions;
  }

  /** Every error so far that the provider rejected a call with. */
  get refusals(): SuiteContext["refusals"] {
    return this.#suite.refusals;
  }

  /** Unique text that an agent can only know from its prompt. */
  nonce(): string {
    return `nonce-${randomUUID()}`;
  }

  /** Creates a second provider, for checks that shut it down. */
  async freshProvider(factory?: () => AgentProvider | Promise<AgentProvider>): Promise<AgentProvider> {
    const provider = factory
      ? await waitFor("creating a provider", this.limits.makeMs, (async () => factory())())
      : await this.#suite.make();
    this.#providers.push(provider);
    return provider;
  }

  async spawn(
    spec: AgentSpec,
    options: SpawnOptions = {},
    provider = this.provider,
  ): Promise<ObservedSession> {
    const opening = this.track(provider.spawn(spec, options));
    return this.observe(await waitFor("spawn()", this.limits.spawnMs, opening), spec, "spawn");
  }

  async resume(
    sessionId: string,
    spec: AgentSpec,
    options: SpawnOptions = {},
    provider = this.provider,
  ): Promise<ObservedSession> {
    const opening = this.track(provider.resume(sessionId, spec, options));
    return this.observe(await waitFor("resume()", this.limits.spawnMs, opening), spec, "resume");
  }

  /** Spawns a session, or resumes one that has ended. */
  async open(
    openedBy: OpenedBy,
    spec: AgentSpec,
    options: SpawnOptions = {},
    provider = this.provider,
  ): Promise<ObservedSession> {
    if (openedBy === "spawn") return this.spawn(spec, options, provider);
    return this.resume(await this.endedSession(provider), spec, options, provider);
  }

  /** Runs a session to its end and returns its id. */
  async endedSession(provider = this.provider): Promise<string> {
    const session = await this.spawn(this.scenarios.says(this.nonce()), {}, provider);
    await session.readToEnd();
    await session.stop();
    return session.handle.sessionId;
  }

  /** A session that has ended. Run once and judged by several checks. */
  recorded(): Promise<ObservedSession> {
    return this.#suite.once("recorded", async () => {
      const session = await this.spawn(this.scenarios.says(this.nonce()));
      return session.readToEnd();
    });
  }

  /** A session that used a tool and has ended, if there is a scenario for it. */
  recordedTool(): Promise<ObservedSession | undefined> {
    return this.#suite.once("recordedTool", async () => {
      const spec = this.scenarios.usesTool?.();
      return spec && (await (await this.spawn(spec)).readToEnd());
    });
  }

  /** Fails unless the call rejects with one of the codes. */
  async expectRefusal(
    what: string,
    codes: readonly string[],
    call: () => Promise<AgentHandle | Uint8Array | string | void>,
  ): Promise<void> {
    const expected = codes.join('" or "');
    // A call may also throw synchronously.
    const work = (async () => {
      const value = await call();
      return typeof value === "object" && "sessionId" in value
        ? this.track(Promise.resolve(value))
        : undefined;
    })();
    const settled = await waitFor(
      what,
      this.limits.callMs,
      work.then(
        () => undefined,
        (error: unknown) => ({ error }),
      ),
    );
    if (!settled) throw failure(`${what} should be refused with "${expected}", but it was accepted`);
    this.#suite.refusals.push({ what, error: settled.error });
    const code = (settled.error as { code?: unknown } | null)?.code;
    assertThat(
      typeof code === "string" && codes.includes(code),
      () =>
        `${what} should be refused with the code "${expected}", but failed with: ${describeError(settled.error)}`,
    );
  }

  /** Stops everything that the check left running. Returns the reason if that fails. */
  async release(): Promise<string | undefined> {
    this.#released = true;
    const stops = this.#handles.map((handle) =>
      waitFor("stop() after the check", this.limits.stopMs, (async () => handle.stop())()),
    );
    const shutdowns = this.#providers.map((provider) =>
      waitFor("shutdown() after the check", this.limits.shutdownMs, (async () => provider.shutdown())()),
    );
    const ended = await Promise.allSettled([...stops, ...shutdowns]);
    const failed = ended.find((end) => end.status === "rejected");
    return failed && describeError(failed.reason);
  }

  /** Registers a handle to be stopped. A handle that arrives after the check has ended is stopped immediately. */
  async track<Handle extends AgentHandle>(opening: Promise<Handle>): Promise<Handle> {
    const handle = await opening;
    if (this.#released) void (async () => handle.stop())().catch(() => {});
    else this.#handles.push(handle);
    return handle;
  }

  /** Records the events of a handle, which the checks of every stream judge too. */
  observe(handle: AgentHandle, spec: AgentSpec, openedBy: OpenedBy): ObservedSession {
    const checkId = this.#checkId;
    const session = new ObservedSession(handle, { limits: this.limits, spec, openedBy, checkId });
    this.#suite.sessions.push(session);
    return session;
  }
}
