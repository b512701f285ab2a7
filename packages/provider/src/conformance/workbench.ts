import { randomUUID } from "node:crypto";
import type { AgentHandle, AgentProvider, SpawnOptions } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { ConformanceLimits, ConformanceOptions, ConformanceScenarios } from "./conformance-options.ts";
import type { Stage } from "./stage.ts";
import { type OpenedBy, WatchedSession } from "./watched-session.ts";
import { describeError, failure, holds, within } from "./within.ts";

/** What one check works with. Whatever it spawned is stopped when it is over. */
export class Workbench {
  readonly provider: AgentProvider;
  readonly limits: ConformanceLimits;
  readonly #stage: Stage;
  readonly #checkId: string;
  readonly #handles: AgentHandle[] = [];
  readonly #providers: AgentProvider[] = [];
  #released = false;

  constructor(stage: Stage, provider: AgentProvider, checkId: string) {
    this.#stage = stage;
    this.provider = provider;
    this.limits = stage.limits;
    this.#checkId = checkId;
  }

  get scenarios(): ConformanceScenarios {
    return this.#stage.options.scenarios;
  }

  get samples(): ConformanceOptions["samples"] {
    return this.#stage.options.samples;
  }

  /** Every session of the run so far. */
  get sessions(): readonly WatchedSession[] {
    return this.#stage.sessions;
  }

  /** Every error of the run so far with which the provider refused a call. */
  get refusals(): Stage["refusals"] {
    return this.#stage.refusals;
  }

  /** Words that only those know who were told them. */
  nonce(): string {
    return `nonce-${randomUUID()}`;
  }

  /** Another provider, for what ends it. */
  async freshProvider(factory?: () => AgentProvider | Promise<AgentProvider>): Promise<AgentProvider> {
    const provider = factory
      ? await within("making a provider", this.limits.makeMs, (async () => factory())())
      : await this.#stage.make();
    this.#providers.push(provider);
    return provider;
  }

  async spawn(
    spec: AgentSpec,
    options: SpawnOptions = {},
    provider = this.provider,
  ): Promise<WatchedSession> {
    const opening = this.kept(provider.spawn(spec, options));
    return this.watch(await within("spawn()", this.limits.spawnMs, opening), spec, "spawn");
  }

  async resume(
    sessionId: string,
    spec: AgentSpec,
    options: SpawnOptions = {},
    provider = this.provider,
  ): Promise<WatchedSession> {
    const opening = this.kept(provider.resume(sessionId, spec, options));
    return this.watch(await within("resume()", this.limits.spawnMs, opening), spec, "resume");
  }

  /** Opens a session: a new one, or one that has ended already. */
  async open(
    openedBy: OpenedBy,
    spec: AgentSpec,
    options: SpawnOptions = {},
    provider = this.provider,
  ): Promise<WatchedSession> {
    if (openedBy === "spawn") return this.spawn(spec, options, provider);
    return this.resume(await this.pastSession(provider), spec, options, provider);
  }

  /** The id of a session that has ended. */
  async pastSession(provider = this.provider): Promise<string> {
    const session = await this.spawn(this.scenarios.says(this.nonce()), {}, provider);
    await session.toEnd();
    await session.stop();
    return session.handle.sessionId;
  }

  /** A session that said words and ended: run once, and judged by several checks. */
  recorded(): Promise<WatchedSession> {
    return this.#stage.once("recorded", async () => {
      const session = await this.spawn(this.scenarios.says(this.nonce()));
      return session.toEnd();
    });
  }

  /** A session that used a tool and ended, if there is such an agent. */
  recordedTool(): Promise<WatchedSession | undefined> {
    return this.#stage.once("recordedTool", async () => {
      const spec = this.scenarios.usesTool?.();
      return spec && (await (await this.spawn(spec)).toEnd());
    });
  }

  /** Holds a call to being refused with one of the codes. */
  async refuses(
    what: string,
    codes: readonly string[],
    call: () => Promise<AgentHandle | Uint8Array | string | void>,
  ): Promise<void> {
    const expected = codes.join('" or "');
    // A call that throws instead of rejecting is refused too.
    const work = (async () => {
      const value = await call();
      return typeof value === "object" && "sessionId" in value
        ? this.kept(Promise.resolve(value))
        : undefined;
    })();
    const settled = await within(
      what,
      this.limits.callMs,
      work.then(
        () => undefined,
        (error: unknown) => ({ error }),
      ),
    );
    if (!settled) throw failure(`${what} should be refused with "${expected}", and was taken`);
    this.#stage.refusals.push({ what, error: settled.error });
    const code = (settled.error as { code?: unknown } | null)?.code;
    holds(
      typeof code === "string" && codes.includes(code),
      () =>
        `${what} should be refused with the code "${expected}", and was with: ${describeError(settled.error)}`,
    );
  }

  /** Ends whatever the check left at work; says what could not be ended. */
  async release(): Promise<string | undefined> {
    this.#released = true;
    const stops = this.#handles.map((handle) =>
      within("stop() after the check", this.limits.stopMs, (async () => handle.stop())()),
    );
    const shutdowns = this.#providers.map((provider) =>
      within("shutdown() after the check", this.limits.shutdownMs, (async () => provider.shutdown())()),
    );
    const ended = await Promise.allSettled([...stops, ...shutdowns]);
    const failed = ended.find((end) => end.status === "rejected");
    return failed && describeError(failed.reason);
  }

  /** Remembers a handle to be stopped; one that comes when the check is over is stopped at once. */
  async kept<Handle extends AgentHandle>(coming: Promise<Handle>): Promise<Handle> {
    const handle = await coming;
    if (this.#released) void (async () => handle.stop())().catch(() => {});
    else this.#handles.push(handle);
    return handle;
  }

  /** Observes a handle; what is read of it is judged at the end of the run too. */
  watch(handle: AgentHandle, spec: AgentSpec, openedBy: OpenedBy): WatchedSession {
    const checkId = this.#checkId;
    const session = new WatchedSession(handle, { limits: this.limits, spec, openedBy, checkId });
    this.#stage.sessions.push(session);
    return session;
  }
}
