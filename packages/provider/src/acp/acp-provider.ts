import { setTimeout as delay } from "node:timers/promises";
import { untilAborted } from "../contract/until-aborted.ts";
import type { AgentProvider, CallOptions, SpawnOptions } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { AgentCapabilities } from "../contract/capabilities.ts";
import { IdempotentSpawns } from "../contract/idempotent-spawns.ts";
import { refuseIgnored } from "../contract/ignored-field.ts";
import { openWithin } from "../contract/open-within.ts";
import { parseSpec } from "../contract/parse-spec.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { acpCapabilities } from "./acp-capabilities.ts";
import { AcpHandle } from "./acp-handle.ts";
import { ACP_LIMITS, type AcpLimits } from "./limits.ts";
import { configureSession, type OpenedSession, openSession, replaysPast } from "./open-session.ts";
import { type AsksPermission, planSession, type SessionPlan } from "./plan/plan-session.ts";
import { AcpAgent } from "./process/acp-agent.ts";
import type { AcpAuthMethod } from "./process/auth-method.ts";
import type { AcpCommand } from "./process/start-process.ts";
import { within } from "./process/within.ts";
import { SessionBoard } from "./session-board.ts";

/** Before a session is loaded again; then twice as long each time. */
const FIRST_REOPEN_MS = 25;

export interface AcpProviderOptions extends AcpCommand {
  /** What registries call it. Default `acp`. */
  readonly name?: string | undefined;
  /** What people read. Default: what the agent calls itself. */
  readonly humanLabel?: string | undefined;
  /** One of the agent's ways to log in, by its id, for agents that need it before there is a session. */
  readonly authMethod?: string | undefined;
  /** Set it for an agent whose sessions offer levels of thought: ACP tells that only once there is a session. */
  readonly supportsReasoningEffort?: boolean | undefined;
  /**
   * Set it to `always` for an agent that is configured to ask before each command, edit and other tool: then the denials of
   * `permissionConfig` are enforced, instead of only for what the agent happens to ask. Default `sometimes`.
   */
  readonly asksPermission?: AsksPermission | undefined;
  readonly limits?: Partial<AcpLimits> | undefined;
  /** Gives up the launch; it has no meaning after that. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Any agent that speaks the Agent Client Protocol on its stdio: one process, any number of sessions on it. When it dies, its
 * sessions end with `app_server_crashed`, and the next call starts another.
 *
 * @example
 * await using provider = await AcpProvider.launch({ command: "my-agent", args: ["--acp"] });
 * await using handle = await provider.spawn({ prompt: "Make the failing test pass", cwd: "/srv/app" });
 * for await (const event of handle.events) console.log(event.kind);
 */
export class AcpProvider implements AgentProvider {
  readonly name: string;
  readonly capabilities: AgentCapabilities;
  /** The agent's ways to log in, for `authMethod`. */
  readonly authMethods: readonly AcpAuthMethod[];
  readonly #options: AcpProviderOptions;
  readonly #limits: AcpLimits;
  readonly #board: SessionBoard;
  readonly #over = new AbortController();
  readonly #spawns = new IdempotentSpawns<AcpHandle>();
  #agent: Promise<AcpAgent> | undefined;
  #pid: number | undefined;
  #shutdown: Promise<void> | undefined;

  private constructor(options: AcpProviderOptions, agent: AcpAgent, board: SessionBoard, limits: AcpLimits) {
    const { name = "acp", supportsReasoningEffort = false, asksPermission = "sometimes" } = options;
    this.name = name;
    this.#options = options;
    this.#limits = limits;
    this.#board = board;
    const humanLabel = options.humanLabel ?? agent.info?.title ?? agent.info?.name ?? options.command;
    const needsPermissionConfig = asksPermission === "always";
    this.capabilities = acpCapabilities(agent, {
      humanLabel,
      supportsReasoningEffort,
      needsPermissionConfig,
    });
    this.authMethods = agent.authMethods;
    void this.#use(Promise.resolve(agent));
  }

  /**
   * Starts the agent and shakes hands, so that what is missing shows here and not in the middle of work.
   * @throws {ProviderError} `provider_unavailable` when the command is missing, dies, or does not speak ACP;
   *   `authentication_failed` when `authMethod` failed; `context_cancelled` when the signal fired.
   */
  static async launch({ signal, ...options }: AcpProviderOptions): Promise<AcpProvider> {
    const limits = { ...ACP_LIMITS, ...options.limits };
    const board = new SessionBoard(limits.earlyUpdates);
    const agent = await AcpAgent.start({ ...options, signal, listener: board, limits });
    return new AcpProvider(options, agent, board, limits);
  }

  /** The process id of the agent; undefined between its death and the next call. */
  get pid(): number | undefined {
    return this.#pid;
  }

  async spawn(spec: AgentSpec, options: SpawnOptions = {}): Promise<AcpHandle> {
    this.#refuseWhenShutDown();
    return this.#spawns.once(spec, options, () => this.#open(spec, options, undefined));
  }

  async resume(sessionId: string, spec: AgentSpec, options: CallOptions = {}): Promise<AcpHandle> {
    this.#refuseWhenShutDown();
    if (!this.capabilities.supportsSessionResume) {
      const message = `The agent of the provider "${this.name}" does not load sessions.`;
      throw new ProviderError("unsupported", message);
    }
    const held = this.#board.handle(sessionId);
    if (this.#board.isResuming(sessionId) || (held && !held.events.ended)) {
      const message = `Session ${sessionId} is at work here. Stop it before it is resumed.`;
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
    { signal }: CallOptions,
    resumed: string | undefined,
  ): Promise<AcpHandle> {
    this.#refuseWhenShutDown();
    const spec = parseSpec(unchecked);
    return openWithin(spec, signal, async (session) => {
      const opening = this.#board.opening(resumed, () => this.#openNow(spec, session, resumed));
      try {
        return await untilAborted(opening, session);
      } catch (error) {
        // One that comes when nobody waits any more ends by the same signal.
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
    // The agent may still be letting go of it.
    if (resumed !== undefined) await this.#board.handle(resumed)?.released;
    const agent = await this.#running();
    const { supportsReasoningEffort } = this.capabilities;
    const { capabilities } = agent;
    const { asksPermission = "sometimes" } = this.#options;
    const plan = planSession(spec, { capabilities, supportsReasoningEffort, asksPermission });
    refuseIgnored(this.name, spec, plan.ignored);
    const opened = await this.#inTime(
      agent,
      "the agent's session",
      this.#openSession(agent, plan, resumed, signal),
    );
    try {
      refuseIgnored(this.name, spec, opened.ignored);
      await this.#inTime(agent, "the agent's settings", configureSession(agent, opened));
      if (signal?.aborted) throw new ProviderError("context_cancelled", "The caller's signal fired.");
      this.#refuseWhenShutDown();
      if (agent.pid !== undefined) spec.onProcessSpawned?.(agent.pid);
    } catch (error) {
      await agent.closeSession(opened.sessionId, this.#limits.closeMs);
      throw spawnFailed(error);
    }
    return this.#adopt(agent, plan, opened, { timeoutMs: spec.timeoutMs, signal });
  }

  /** An agent may refuse a session that ended here a moment ago, because it still writes it. */
  async #openSession(
    agent: AcpAgent,
    plan: SessionPlan,
    sessionId: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<OpenedSession> {
    if (sessionId === undefined) return openSession(agent, plan, undefined);
    const { listedPages, reopenMs } = this.#limits;
    const isKnown = this.#board.hasEnded(sessionId);
    const deadline = performance.now() + (isKnown ? reopenMs : 0);
    for (let delayMs = FIRST_REOPEN_MS; ; delayMs *= 2) {
      try {
        const opened = await openSession(agent, plan, { sessionId, isKnown, listedPages });
        if (replaysPast(agent)) await this.#board.untilQuiet(sessionId, this.#limits);
        return opened;
      } catch (error) {
        const isOver = agent.closed || this.#over.signal.aborted || signal?.aborted === true;
        if (isOver || performance.now() + delayMs > deadline) throw error;
        await delay(delayMs);
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
      earlierUsd: this.#board.earlierUsd(sessionId),
      limits: this.#limits,
      onDeaf: async () => {
        // It serves this session alone: then it can be ended without harm to another.
        if (this.#board.handles.every((one) => one === handle)) await agent[Symbol.asyncDispose]();
      },
    });
    this.#board.add(handle);
    // It may have died just now, and its other sessions have been told.
    if (agent.closed) void agent.gone.then((why) => handle.crash(why));
    return handle;
  }

  /** What an agent does not do in time, or dies over, is the failure of this one session. */
  async #inTime<T>(agent: AcpAgent, what: string, work: Promise<T>): Promise<T> {
    try {
      return await within(what, this.#limits.sessionMs, work);
    } catch (error) {
      if (!agent.closed) throw spawnFailed(error);
      const message = `The agent died while a session opened: ${await agent.gone}`;
      throw new ProviderError("spawn_failed", message, { cause: error });
    }
  }

  /** The agent that runs, or another in the place of one that died. */
  async #running(): Promise<AcpAgent> {
    try {
      const agent = await (this.#agent ?? this.#restart());
      if (!agent.closed) return agent;
      await agent.gone;
      return await (this.#agent ?? this.#restart());
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new ProviderError("spawn_failed", message, { cause: error });
    }
  }

  #restart(): Promise<AcpAgent> {
    const { signal } = this.#over;
    const limits = this.#limits;
    return this.#use(AcpAgent.start({ ...this.#options, signal, listener: this.#board, limits }));
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
      const why = await agent.gone;
      forget();
      for (const handle of this.#board.handles) if (handle.agent === agent) handle.crash(why);
    }, forget);
    return starting;
  }

  #refuseWhenShutDown(): void {
    if (this.#shutdown) throw new ProviderError("shut_down", `The provider "${this.name}" was shut down.`);
  }

  async #end(): Promise<void> {
    this.#over.abort();
    for (const handle of this.#board.handles) handle.shutdown();
    // One that could not be started left nothing.
    const agent = await this.#agent?.catch(() => undefined);
    await agent?.[Symbol.asyncDispose]();
  }
}

function spawnFailed(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ProviderError("spawn_failed", message, { cause: error });
}

function noExport(name: string): ProviderError {
  return new ProviderError(
    "unsupported",
    `The provider "${name}" can't export sessions: ACP has no request for it.`,
  );
}
