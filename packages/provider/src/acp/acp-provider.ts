import { setTimeout as delay } from "node:timers/promises";
import { BoundedMap, messageOf } from "@codexkit/rpc/async";
import { raceCancel } from "../contract/cancelled.ts";
import type { AgentProvider, ProviderCallOptions, SpawnOptions } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { AgentCapabilities } from "../contract/capabilities.ts";
import { IdempotentSpawns } from "../contract/idempotent-spawns.ts";
import { refuseIgnored } from "../contract/ignored-field.ts";
import { openWithin } from "../contract/open-within.ts";
import { parseSpec } from "../contract/parse-spec.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { acpCapabilities } from "./acp-capabilities.ts";
import { AcpHandle } from "./acp-handle.ts";
import { ACP_LIMITS, type AcpLimits } from "./process/limits.ts";
import { configureSession, type OpenedSession, openSession, replaysHistory } from "./open-session.ts";
import { type AsksPermission, planSession, type SessionPlan } from "./plan/plan-session.ts";
import { AcpAgent } from "./process/acp-agent.ts";
import type { AcpAuthMethod } from "./process/auth-method.ts";
import type { AcpCommand } from "./process/start-process.ts";
import { waitForAgent } from "./process/agent-failure.ts";
import { SessionRouter } from "./session-router.ts";

/** Delay before a session is loaded again. Doubles with each attempt. */
const FIRST_REOPEN_MS = 25;

export interface AcpProviderOptions extends AcpCommand {
  /** Name of the provider. Default: `acp`. */
  readonly name?: string | undefined;
  /** Human-readable name. Default: the agent's own name. */
  readonly humanLabel?: string | undefined;
  /** Id of the login method, for agents that require a login before the first session. */
  readonly authMethod?: string | undefined;
  /** Set for agents whose sessions have a thought level. ACP reports that only once a session is open. */
  readonly supportsReasoningEffort?: boolean | undefined;
  /**
   * Set to `always` for an agent that is configured to ask before each command, edit and other tool. Then the denials of
   * `permissionConfig` are enforced. Otherwise they apply only when the agent asks. Default: `sometimes`.
   */
  readonly asksPermission?: AsksPermission | undefined;
  readonly limits?: Partial<AcpLimits> | undefined;
  /** Cancels the launch. No effect afterwards. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs any agent that speaks the Agent Client Protocol on its stdio. One process serves all sessions. If it crashes, its sessions
 * end with `app_server_crashed`, and the next call starts a new process.
 *
 * @example
 * await using provider = await AcpProvider.launch({ command: "my-agent", args: ["--acp"] });
 * await using handle = await provider.spawn({ prompt: "Make the failing test pass", cwd: "/srv/app" });
 * for await (const event of handle.events) console.log(event.kind);
 */
export class AcpProvider implements AgentProvider {
  readonly name: string;
  readonly capabilities: AgentCapabilities;
  /** The agent's login methods, for `authMethod`. */
  readonly authMethods: readonly AcpAuthMethod[];
  readonly #options: AcpProviderOptions;
  readonly #limits: AcpLimits;
  readonly #router: SessionRouter;
  readonly #shutdownSignal = new AbortController();
  readonly #spawns = new IdempotentSpawns<AcpHandle>();
  /** Sessions without output, left open on the agent. It stores a session with its first output; closed earlier, it is lost. */
  readonly #unstored: BoundedMap<string, AcpAgent>;
  /** Sessions beyond that limit that the agent is closing. */
  readonly #closing = new Map<string, Promise<void>>();
  #agent: Promise<AcpAgent> | undefined;
  #pid: number | undefined;
  #shutdown: Promise<void> | undefined;

  private constructor(
    options: AcpProviderOptions,
    agent: AcpAgent,
    router: SessionRouter,
    limits: AcpLimits,
  ) {
    const { name = "acp", supportsReasoningEffort = false, asksPermission = "sometimes" } = options;
    this.name = name;
    this.#options = options;
    this.#limits = limits;
    this.#router = router;
    const humanLabel = options.humanLabel ?? agent.info?.title ?? agent.info?.name ?? options.command;
    const needsPermissionConfig = asksPermission === "always";
    this.capabilities = acpCapabilities(agent, {
      humanLabel,
      supportsReasoningEffort,
      needsPermissionConfig,
    });
    this.authMethods = agent.authMethods;
    this.#unstored = new BoundedMap(limits.unstoredSessions, (owner, sessionId) => {
      const closing = owner.closeSession(sessionId, limits.closeMs);
      this.#closing.set(sessionId, closing);
      void closing.then(() => this.#closing.delete(sessionId));
    });
    void this.#use(Promise.resolve(agent));
  }

  /**
   * Starts and initializes the agent, so that problems surface here and not during a session.
   * @throws {ProviderError} `provider_unavailable` if the command is missing, exits, or does not speak ACP;
   *   `authentication_failed` if `authMethod` failed; `context_cancelled` if the signal was aborted.
   */
  static async launch({ signal, ...options }: AcpProviderOptions): Promise<AcpProvider> {
    const limits = { ...ACP_LIMITS, ...options.limits };
    const router = new SessionRouter(limits.earlyUpdates);
    const agent = await AcpAgent.start({ ...options, signal, listener: router, limits });
    return new AcpProvider(options, agent, router, limits);
  }

  /** PID of the agent. Undefined between a crash and the next call. */
  get pid(): number | undefined {
    return this.#pid;
  }

  async spawn(spec: AgentSpec, options: SpawnOptions = {}): Promise<AcpHandle> {
    this.#refuseWhenShutDown();
    return this.#spawns.once(spec, options, () => this.#open(spec, options, undefined));
  }

  async resume(sessionId: string, spec: AgentSpec, options: ProviderCallOptions = {}): Promise<AcpHandle> {
    this.#refuseWhenShutDown();
    if (!this.capabilities.supportsSessionResume) {
      const message = `The agent of the provider "${this.name}" can't load sessions.`;
      throw new ProviderError("unsupported", message);
    }
    const held = this.#router.handle(sessionId);
    if (this.#router.isResuming(sessionId) || (held && !held.events.ended)) {
      const message = `Session ${sessionId} is running. Stop it before you resume it.`;
      throw new ProviderError("session_busy", message);
    }
    return this.#open(spec, options, sessionId);
  }

  export(): Promise<Uint8Array> {
    return Promise.reject(noExport(this.name));
  }

  import(): Promise<string> {
    return Promise.reject(noExport(this.name));
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#end();
    return this.#shutdown;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  async #open(
    unchecked: AgentSpec,
    { signal }: ProviderCallOptions,
    resumed: string | undefined,
  ): Promise<AcpHandle> {
    this.#refuseWhenShutDown();
    const spec = parseSpec(unchecked);
    return openWithin(spec, signal, async (session) => {
      const opening = this.#router.open(resumed, () => this.#openNow(spec, session, resumed));
      try {
        return await raceCancel(opening, session);
      } catch (error) {
        // If the session opens after all, the same signal ends it.
        opening.catch(() => {});
        this.#refuseWhenShutDown();
        throw error;
      }
    });
  }

  async #openNow(
    spec: AgentSpec,
    signal: AbortSignal | undefined,
    resumed: string | undefined,
  ): Promise<AcpHandle> {
    // The agent may still be releasing it.
    if (resumed !== undefined) {
      await this.#router.handle(resumed)?.released;
      await this.#closing.get(resumed);
    }
    const agent = await this.#running();
    const { supportsReasoningEffort } = this.capabilities;
    const { capabilities } = agent;
    const { asksPermission = "sometimes" } = this.#options;
    const plan = planSession(spec, { capabilities, supportsReasoningEffort, asksPermission });
    refuseIgnored(this.name, spec, plan.ignored);
    const opening = this.#openSession(agent, plan, resumed, signal);
    let opened: OpenedSession;
    try {
      opened = await this.#waitFor(agent, "the agent's session", opening);
    } catch (error) {
      void opening.then(
        (late) => this.#closeLate(agent, late),
        () => {},
      );
      throw error;
    }
    try {
      refuseIgnored(this.name, spec, opened.ignored);
      await this.#waitFor(agent, "the agent's settings", configureSession(agent, opened));
      if (signal?.aborted) throw new ProviderError("context_cancelled", "The caller's signal was aborted.");
      this.#refuseWhenShutDown();
      if (agent.pid !== undefined) spec.onProcessSpawned?.(agent.pid);
    } catch (error) {
      await agent.closeSession(opened.sessionId, this.#limits.closeMs);
      throw spawnFailed(error);
    }
    return this.#adopt(agent, plan, opened, { timeoutMs: spec.timeoutMs, signal });
  }

  /** Closes a session that was opened after its call had timed out, unless a later call has resumed it. */
  async #closeLate(agent: AcpAgent, { sessionId }: OpenedSession): Promise<void> {
    if (this.#router.handle(sessionId) || this.#router.isResuming(sessionId)) return;
    await agent.closeSession(sessionId, this.#limits.closeMs);
  }

  /** Retries sessions that ended recently: the agent may refuse them while it still writes them. */
  async #openSession(
    agent: AcpAgent,
    plan: SessionPlan,
    sessionId: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<OpenedSession> {
    if (sessionId === undefined) return openSession(agent, plan, undefined);
    const { listedPages, reopenMs } = this.#limits;
    const isKnown = this.#router.hasEnded(sessionId);
    const deadline = performance.now() + (isKnown ? reopenMs : 0);
    for (let delayMs = FIRST_REOPEN_MS; ; delayMs *= 2) {
      try {
        const opened = await openSession(agent, plan, { sessionId, isKnown, listedPages });
        this.#unstored.delete(sessionId);
        if (replaysHistory(agent)) await this.#router.waitForReplay(sessionId, this.#limits);
        return opened;
      } catch (error) {
        const isOver = agent.isClosed || this.#shutdownSignal.signal.aborted || signal?.aborted === true;
        if (isOver || performance.now() + delayMs > deadline) throw error;
        // Some agents resume an open session; others refuse to.
        if (this.#unstored.delete(sessionId)) await agent.closeSession(sessionId, this.#limits.closeMs);
        else await delay(delayMs);
      }
    }
  }

  #adopt(
    agent: AcpAgent,
    plan: SessionPlan,
    { sessionId, ignored }: OpenedSession,
    life: { readonly timeoutMs: number | undefined; readonly signal: AbortSignal | undefined },
  ): AcpHandle {
    const handle = new AcpHandle({
      agent,
      sessionId,
      plan,
      ignored,
      ...life,
      earlierUsd: this.#router.earlierUsd(sessionId),
      limits: this.#limits,
      closeSession: async (hasOutput) => {
        if (hasOutput) await agent.closeSession(sessionId, this.#limits.closeMs);
        else this.#unstored.set(sessionId, agent);
      },
      onUnresponsive: async () => {
        // The process can be ended if it serves no other session.
        if (this.#router.handles.every((one) => one === handle)) await agent[Symbol.asyncDispose]();
      },
    });
    this.#router.add(handle);
    // The agent may have ended before the handle was added.
    if (agent.isClosed) void agent.ended.then((reason) => handle.crash(reason));
    return handle;
  }

  /** Waits for the agent. A timeout or a crash fails only this session. */
  async #waitFor<T>(agent: AcpAgent, what: string, work: Promise<T>): Promise<T> {
    try {
      return await waitForAgent(what, this.#limits.sessionMs, work);
    } catch (error) {
      if (!agent.isClosed) throw spawnFailed(error);
      const message = `The agent ended while the session was being opened: ${await agent.ended}`;
      throw new ProviderError("spawn_failed", message, { cause: error });
    }
  }

  /** The running agent, or a new one if it has ended. */
  async #running(): Promise<AcpAgent> {
    try {
      const agent = await (this.#agent ?? this.#restart());
      if (!agent.isClosed) return agent;
      await agent.ended;
      return await (this.#agent ?? this.#restart());
    } catch (error) {
      const message = messageOf(error);
      throw new ProviderError("spawn_failed", message, { cause: error });
    }
  }

  #restart(): Promise<AcpAgent> {
    const { signal } = this.#shutdownSignal;
    const limits = this.#limits;
    return this.#use(AcpAgent.start({ ...this.#options, signal, listener: this.#router, limits }));
  }

  #use(starting: Promise<AcpAgent>): Promise<AcpAgent> {
    this.#agent = starting;
    const forget = (): void => {
      if (this.#agent !== starting) return;
      this.#agent = undefined;
      this.#pid = undefined;
    };
    starting.then(async (agent) => {
      this.#pid = agent.pid;
      const reason = await agent.ended;
      forget();
      for (const handle of this.#router.handles) if (handle.agent === agent) handle.crash(reason);
    }, forget);
    return starting;
  }

  #refuseWhenShutDown(): void {
    if (this.#shutdown)
      throw new ProviderError("shut_down", `The provider "${this.name}" has been shut down.`);
  }

  async #end(): Promise<void> {
    this.#shutdownSignal.abort();
    for (const handle of this.#router.handles) handle.shutdown();
    // An agent that could not be started needs no cleanup.
    const agent = await this.#agent?.catch(() => undefined);
    await agent?.[Symbol.asyncDispose]();
  }
}

function spawnFailed(error: unknown): ProviderError {
  if (ProviderError.is(error)) return error;
  const message = messageOf(error);
  return new ProviderError("spawn_failed", message, { cause: error });
}

function noExport(name: string): ProviderError {
  return new ProviderError(
    "unsupported",
    `The provider "${name}" can't export sessions, because ACP has no request for it.`,
  );
}
