import { randomUUID } from "node:crypto";
import type { AgentHandle, AgentProvider, CallOptions } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { ConformanceLimits, ConformanceOptions, ConformanceScenarios } from "./conformance-options.ts";
import type { Stage } from "./stage.ts";
import { WatchedSession } from "./watched-session.ts";
import { describeError, failure, holds, within } from "./within.ts";

/** What one check works with. Whatever it spawned is stopped when it is over. */
export class Workbench {
  readonly provider: AgentProvider;
  readonly limits: ConformanceLimits;
  readonly #stage: Stage;
  readonly #handles: AgentHandle[] = [];
  readonly #providers: AgentProvider[] = [];
  #released = false;

  constructor(stage: Stage, provider: AgentProvider) {
    this.#stage = stage;
    this.provider = provider;
    this.limits = stage.limits;
  }

  get scenarios(): ConformanceScenarios {
    return this.#stage.options.scenarios;
  }

  get samples(): ConformanceOptions["samples"] {
    return this.#stage.options.samples;
  }

  /** Words that nobody can know but who is told them. */
  nonce(): string {
    return `nonce-${randomUUID()}`;
  }

  /** Another provider, for what ends it. */
  async freshProvider(): Promise<AgentProvider> {
    const provider = await this.#stage.make();
    this.#providers.push(provider);
    return provider;
  }

  async spawn(spec: AgentSpec, options: CallOptions = {}, provider = this.provider): Promise<WatchedSession> {
    return this.#watch(
      await within("spawn()", this.limits.spawnMs, this.#kept(provider.spawn(spec, options))),
    );
  }

  async resume(sessionId: string, spec: AgentSpec, provider = this.provider): Promise<WatchedSession> {
    const resumed = this.#kept(provider.resume(sessionId, spec));
    return this.#watch(await within("resume()", this.limits.spawnMs, resumed));
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
    call: () => Promise<AgentHandle | void>,
  ): Promise<void> {
    const expected = codes.join('" or "');
    // A call that throws instead of rejecting is refused too.
    const work = (async () => call())();
    const settled = await within(
      what,
      this.limits.callMs,
      this.#kept(work).then(
        () => undefined,
        (error: unknown) => ({ error }),
      ),
    );
    if (!settled) throw failure(`${what} should be refused with "${expected}", and was taken`);
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

  #watch(handle: AgentHandle): WatchedSession {
    return new WatchedSession(handle, this.limits);
  }

  /** Remembers a handle to be stopped; one that comes when the check is over is stopped at once. */
  async #kept<Handle extends AgentHandle | void>(coming: Promise<Handle>): Promise<Handle> {
    const handle = await coming;
    if (handle && this.#released) void (async () => handle.stop())().catch(() => {});
    else if (handle) this.#handles.push(handle);
    return handle;
  }
}
