import type { AskHandler } from "@codexkit/approvals";
import { AsyncDisposableStack } from "@codexkit/rpc/async";
import { Codex, CodexError, type LaunchOptions, type Thread } from "codexkit";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentHandle, AgentProvider, CallOptions, SpawnOptions } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { AgentCapabilities } from "../contract/capabilities.ts";
import { IdempotentSpawns } from "../contract/idempotent-spawns.ts";
import { refuseIgnored } from "../contract/ignored-field.ts";
import { openWithin } from "../contract/open-within.ts";
import { parseSpec } from "../contract/parse-spec.ts";
import { createPricer, type Pricer, type Prices } from "../contract/prices.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { CODEX_CAPABILITIES } from "./codex-capabilities.ts";
import { completedSession, readLastTurn } from "./keys/completed-session.ts";
import { SpawnKeys } from "./keys/spawn-keys.ts";
import { checkProviderOptions, checkResumeOptions, checkSpawnOptions } from "./known-options.ts";
import { LIMITS } from "./limits.ts";
import { permissionHandlers } from "./permissions/permission-handlers.ts";
import { type PlanContext, planSpawn, type SpawnPlan } from "./plan/plan-spawn.ts";
import { CodexHandle } from "./session/codex-handle.ts";
import { Switchboard } from "./session/switchboard.ts";
import { unloadThread } from "./session/unload-thread.ts";
import { decodeImage } from "./transfer/session-image.ts";
import { exportSession, importSession } from "./transfer/transfer-session.ts";
import { toProviderError } from "./translate-error.ts";
import { refuseAborted, untilAborted } from "../contract/until-aborted.ts";

/** How the one codex of a provider is launched, and who is asked. */
export interface CodexProviderOptions extends Omit<
  LaunchOptions,
  "handlers" | "optOutNotifications" | "experimentalApi"
> {
  /** What registries call it. Default `codex`. */
  readonly name?: string;
  /** Asked where a spec with `autonomous: false` says `prompt`. Without it, and for other specs, such requests are denied. */
  readonly ask?: AskHandler;
  /** How long codex may take to stop a turn before the session ends without its word. Default 10 s. */
  readonly interruptTimeoutMs?: number;
  /** What models cost, for `cost.usd` and `maxCostUsd`. Codex names no prices, and none are built in. */
  readonly prices?: Prices;
}

type OpenThread = (
  options: SpawnPlan["thread"] & { handlers: ReturnType<typeof permissionHandlers> },
) => Promise<Thread>;

/**
 * Codex as an agent: one `codex app-server`, any number of sessions on it. When it dies, its sessions end with
 * `app_server_crashed`, and the next call starts another.
 *
 * @example
 * await using provider = await CodexProvider.create();
 * await using handle = await provider.spawn({ prompt: "Make the failing test pass", cwd: "/srv/app" });
 * for await (const event of handle.events) console.log(event.kind);
 */
export class CodexProvider implements AgentProvider {
  readonly name: string;
  readonly capabilities: AgentCapabilities = CODEX_CAPABILITIES;
  readonly #codex: Codex;
  readonly #ask: AskHandler | undefined;
  readonly #context: PlanContext;
  readonly #interruptTimeoutMs: number;
  readonly #pricer: Pricer | undefined;
  readonly #keys: SpawnKeys;
  readonly #spawns = new IdempotentSpawns<AgentHandle>();
  readonly #board = new Switchboard();
  /** By session id; undefined while it is being resumed. */
  readonly #sessions = new Map<string, CodexHandle | undefined>();
  /** Threads of calls to `resume` that were given up, until they are released. */
  readonly #discards = new Map<string, Promise<void>>();
  #shutdown: Promise<void> | undefined;

  private constructor(
    codex: Codex,
    codexHome: string,
    options: CodexProviderOptions,
    pricer: Pricer | undefined,
  ) {
    this.name = options.name ?? "codex";
    this.#codex = codex;
    this.#ask = options.ask;
    const { TMPDIR } = { ...(options.inheritEnv === false ? {} : process.env), ...options.env };
    const tempFolders = TMPDIR ? ["/tmp", TMPDIR] : ["/tmp"];
    this.#context = {
      codexHome,
      tempFolders,
      canAsk: options.ask !== undefined,
      canPrice: pricer !== undefined,
    };
    this.#pricer = pricer;
    this.#keys = new SpawnKeys(codexHome);
    this.#interruptTimeoutMs = options.interruptTimeoutMs ?? LIMITS.interruptMs;
    void this.#board.read(codex);
  }

  /**
   * Starts codex, so that what is missing shows here and not in the middle of work.
   * @throws {ProviderError} `provider_unavailable` when there is no codex, or an old or a broken one.
   */
  static async create(options: CodexProviderOptions = {}): Promise<CodexProvider> {
    checkProviderOptions(options);
    const { name: _name, ask: _ask, interruptTimeoutMs: _timeout, prices, ...launch } = options;
    const pricer = prices && createPricer(prices);
    try {
      await using made = new AsyncDisposableStack();
      const codex = made.use(await Codex.launch(launch));
      const { codexHome } = await codex.server();
      made.move();
      return new CodexProvider(codex, codexHome, options, pricer);
    } catch (error) {
      throw toProviderError(error, "provider_unavailable");
    }
  }

  /** The process id of codex; undefined between a crash and the next call. */
  get pid(): number | undefined {
    return this.#codex.pid;
  }

  /** How many sessions are open, for those who watch for leaks. */
  get sessions(): number {
    return this.#sessions.size;
  }

  async spawn(spec: AgentSpec, options: SpawnOptions = {}): Promise<AgentHandle> {
    this.#refuseWhenShutDown();
    checkSpawnOptions(options);
    return this.#spawns.once(spec, options, () =>
      options.idempotencyKey === undefined
        ? this.#open(spec, options, (thread) => this.#codex.startThread(thread))
        : this.#spawnOnce(spec, options, options.idempotencyKey),
    );
  }

  async resume(sessionId: string, spec: AgentSpec, options: CallOptions = {}): Promise<AgentHandle> {
    this.#refuseWhenShutDown();
    checkResumeOptions(options);
    const held = this.#sessions.get(sessionId);
    if (this.#sessions.has(sessionId) && !held?.finished) {
      throw sessionBusy(sessionId);
    }
    this.#sessions.set(sessionId, undefined);
    try {
      const discarded = this.#discards.get(sessionId);
      const resumeThread: OpenThread = async (thread) => {
        // Codex may still be releasing it, or a call that was given up may still be opening it.
        await held?.released;
        await discarded;
        this.#board.expect(sessionId);
        return this.#resumeThread(sessionId, thread);
      };
      return await this.#open(spec, options, resumeThread, sessionId);
    } catch (error) {
      // One that had begun is on its way out by itself.
      if (this.#sessions.get(sessionId) === undefined) {
        this.#sessions.delete(sessionId);
        this.#board.forget(sessionId);
      }
      throw error;
    }
  }

  async export(sessionId: string, { signal }: CallOptions = {}): Promise<Uint8Array> {
    await this.#idle(sessionId, signal);
    return exportSession(this.#context.codexHome, sessionId);
  }

  async import(bytes: Uint8Array, { signal }: CallOptions = {}): Promise<string> {
    this.#refuseWhenShutDown();
    const image = await decodeImage(bytes);
    await this.#idle(image.sessionId, signal);
    try {
      await importSession(this.#context.codexHome, image, async (threadId) => {
        await this.#codex.request("thread/delete", { threadId });
      });
    } catch (error) {
      throw toProviderError(error, "spawn_failed");
    }
    return image.sessionId;
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#end();
    return this.#shutdown;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  /**
   * Spawns for a key that this provider has not seen. Another process may have: a session that completed is not run again, and
   * one that was cut off goes on.
   */
  async #spawnOnce(spec: AgentSpec, options: CallOptions, key: string): Promise<AgentHandle> {
    const parsed = parseSpec(spec);
    refuseAborted(options.signal);
    try {
      const sessionId = await this.#keys.find(key, parsed);
      if (sessionId !== undefined) {
        const turn = await openWithin(parsed, options.signal, (session) =>
          untilAborted(readLastTurn(this.#codex, sessionId), session),
        );
        if (turn === "missing") await this.#keys.forget(key);
        else if (turn.status !== "completed")
          return await this.resume(sessionId, spec, { signal: options.signal });
        else return completedSession(sessionId, turn, this.#plan(parsed).ignored);
      }
    } catch (error) {
      throw toProviderError(error, "spawn_failed");
    }
    return this.#open(spec, options, async (settings) => {
      const thread = await this.#codex.startThread(settings);
      if (await this.#keys.claim(key, parsed, thread.id)) return thread;
      await this.#discard(Promise.resolve(thread));
      const message = `Another process is starting the session of the idempotency key "${key}". Try again.`;
      throw new ProviderError("session_busy", message);
    });
  }

  #plan(spec: AgentSpec): SpawnPlan {
    const hasAuthFile = existsSync(join(this.#context.codexHome, "auth.json"));
    const plan = planSpawn(spec, { ...this.#context, hasAuthFile });
    refuseIgnored(this.name, spec, plan.ignored);
    return plan;
  }

  async #open(
    spec: AgentSpec,
    { signal }: CallOptions,
    open: OpenThread,
    resumed?: string,
  ): Promise<CodexHandle> {
    this.#refuseWhenShutDown();
    const parsed = parseSpec(spec);
    const plan = this.#plan(parsed);
    refuseAborted(signal);
    const ask = parsed.autonomous === false ? this.#ask : undefined;
    const handlers = permissionHandlers(plan.permissions, { cwd: parsed.cwd, ask });
    return openWithin(parsed, signal, (session) => {
      const opening = open({ ...plan.thread, handlers });
      return this.#begin(parsed, plan, this.#opened(opening, session, resumed), session);
    });
  }

  async #begin(
    parsed: AgentSpec,
    unpriced: SpawnPlan,
    opening: Promise<Thread>,
    signal: AbortSignal | undefined,
  ): Promise<CodexHandle> {
    try {
      const thread = await opening;
      const plan = this.#withPrice(unpriced, thread.settings.model);
      const handle = this.#adopt(thread, plan, signal);
      try {
        refuseIgnored(this.name, parsed, plan.ignored);
        if (this.#codex.pid !== undefined) parsed.onProcessSpawned?.(this.#codex.pid);
        // It may have been shut down while the thread was on its way.
        if (this.#shutdown) handle.shutdown();
        else await handle.begin();
        return handle;
      } catch (error) {
        void handle.stop();
        throw error;
      }
    } catch (error) {
      throw toProviderError(error, "spawn_failed");
    }
  }

  /** A thread that comes when nobody waits for it any more is released. */
  async #opened(
    opening: Promise<Thread>,
    signal: AbortSignal | undefined,
    resumed: string | undefined,
  ): Promise<Thread> {
    try {
      return await untilAborted(opening, signal);
    } catch (error) {
      const discarded = this.#discard(opening);
      if (resumed !== undefined) {
        this.#discards.set(resumed, discarded);
        void discarded.then(() => this.#discards.delete(resumed));
      }
      throw error;
    }
  }

  async #discard(opening: Promise<Thread>): Promise<void> {
    try {
      const thread = await opening;
      await thread.close();
      await unloadThread(this.#codex, thread.id);
      this.#board.forget(thread.id);
    } catch {
      // It was not opened, or Codex died: there is nothing to release.
    }
  }

  #adopt(thread: Thread, plan: SpawnPlan, signal: AbortSignal | undefined): CodexHandle {
    const handle = new CodexHandle({
      codex: this.#codex,
      thread,
      plan,
      board: this.#board,
      interruptTimeoutMs: this.#interruptTimeoutMs,
      signal,
      pricer: this.#pricer,
    });
    this.#sessions.set(thread.id, handle);
    void handle.released.then(() => {
      if (this.#sessions.get(thread.id) === handle) this.#sessions.delete(thread.id);
    });
    return handle;
  }

  async #resumeThread(sessionId: string, options: Parameters<OpenThread>[0]): Promise<Thread> {
    try {
      return await this.#codex.resumeThread(sessionId, options);
    } catch (error) {
      // It may be in the archive: put there by a person, or by a codex that died while it let go of it.
      if (!(error instanceof CodexError && error.code === "request_failed")) throw error;
      await this.#codex.request("thread/unarchive", { threadId: sessionId }).catch(() => {
        throw error;
      });
      return this.#codex.resumeThread(sessionId, options);
    }
  }

  /** Which model runs is known once the thread is open: without its price, `maxCostUsd` can't be kept. */
  #withPrice(plan: SpawnPlan, model: string): SpawnPlan {
    const { maxCostUsd: _limit, ...budget } = plan.budget;
    const nothing = { model, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
    if (plan.budget.maxCostUsd === undefined || this.#pricer?.(nothing) !== undefined) return plan;
    const reason = `the model "${model}" has no price: add it to the provider's \`prices\``;
    return { ...plan, budget, ignored: [...plan.ignored, { field: "maxCostUsd", reason }] };
  }

  /** Waits until Codex has let go of a session that ended here. */
  async #idle(sessionId: string, signal: AbortSignal | undefined): Promise<void> {
    this.#refuseWhenShutDown();
    refuseAborted(signal);
    const held = this.#sessions.get(sessionId);
    if (this.#sessions.has(sessionId) && !held?.finished) throw sessionBusy(sessionId);
    if (held) await untilAborted(held.released, signal);
  }

  #refuseWhenShutDown(): void {
    if (this.#shutdown) throw new ProviderError("shut_down", `The provider "${this.name}" was shut down.`);
  }

  async #end(): Promise<void> {
    for (const handle of this.#sessions.values()) handle?.shutdown();
    await this.#codex.close();
  }
}

function sessionBusy(sessionId: string): ProviderError {
  return new ProviderError("session_busy", `Session ${sessionId} is running here. Stop it first, or inject.`);
}
