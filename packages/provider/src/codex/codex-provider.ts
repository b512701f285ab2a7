import type { AskHandler } from "@codexkit/approvals";
import { AsyncDisposableStack } from "@codexkit/rpc/async";
import { Codex, type LaunchOptions } from "codexkit";
import { createPricer, type Pricer, type Prices } from "codexkit/options";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type {
  AgentHandle,
  AgentProvider,
  ProviderCallOptions,
  SpawnOptions,
} from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { AgentCapabilities } from "../contract/capabilities.ts";
import { IdempotentSpawns } from "../contract/idempotent-spawns.ts";
import { refuseIgnored } from "../contract/ignored-field.ts";
import { openWithin } from "../contract/open-within.ts";
import { parseSpec } from "../contract/parse-spec.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { CODEX_CAPABILITIES } from "./codex-capabilities.ts";
import { completedSession, readLastTurn } from "./keys/completed-session.ts";
import { SpawnKeys } from "./keys/spawn-keys.ts";
import { checkProviderOptions, checkResumeOptions, checkSpawnOptions } from "./known-options.ts";
import { permissionHandlers } from "./permissions/permission-handlers.ts";
import { type PlanContext, planSpawn, type SpawnPlan } from "./plan/plan-spawn.ts";
import { CodexHandle } from "./session/codex-handle.ts";
import {
  discardThread,
  type OpenedThread,
  resumeThread,
  startThread,
  type ThreadSettings,
} from "./session/open-thread.ts";
import { decodeImage } from "./transfer/session-image.ts";
import { exportSession, importSession } from "./transfer/transfer-session.ts";
import { toProviderError } from "./errors/translate-error.ts";
import { throwIfCancelled, raceCancel } from "../contract/cancelled.ts";

/** Launch options of Codex, and options of the provider. */
export interface CodexProviderOptions extends Omit<
  LaunchOptions,
  "handlers" | "optOutNotifications" | "experimentalApi"
> {
  /** Name of the provider. Default: `codex`. */
  readonly name?: string;
  /** Answers requests for which a spec with `autonomous: false` has the decision `prompt`. Without it, they are denied. */
  readonly ask?: AskHandler;
  /** How long Codex may take to interrupt a turn before the session ends without it. Default: 10 s. */
  readonly interruptTimeoutMs?: number;
  /** Model prices, for `cost.usd` and `maxCostUsd`. There are no built-in prices. */
  readonly prices?: Prices;
}

/** Codex interrupts a turn within a second. */
const INTERRUPT_MS = 10_000;

type OpenThread = (settings: ThreadSettings) => Promise<OpenedThread>;

/**
 * Runs Codex as an agent. One `codex app-server` serves all sessions. If it crashes, its sessions end with `app_server_crashed`,
 * and the next call starts a new one.
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
  /** By session id. Undefined while the session is being resumed. */
  readonly #sessions = new Map<string, CodexHandle | undefined>();
  /** Threads of cancelled `resume` calls, until they are released. */
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
    this.#interruptTimeoutMs = options.interruptTimeoutMs ?? INTERRUPT_MS;
  }

  /**
   * Starts Codex, so that problems surface here and not during a session.
   * @throws {ProviderError} `provider_unavailable` if Codex is missing, too old or broken.
   */
  static async create(options: CodexProviderOptions = {}): Promise<CodexProvider> {
    checkProviderOptions(options);
    const { name: _name, ask: _ask, interruptTimeoutMs: _timeout, prices, ...launch } = options;
    const toError = (message: string) => new ProviderError("invalid_spec", message);
    const pricer = prices && createPricer(prices, toError);
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

  /** PID of Codex. Undefined between a crash and the next call. */
  get pid(): number | undefined {
    return this.#codex.pid;
  }

  /** Number of open sessions. */
  get sessions(): number {
    return this.#sessions.size;
  }

  async spawn(spec: AgentSpec, options: SpawnOptions = {}): Promise<AgentHandle> {
    this.#refuseWhenShutDown();
    checkSpawnOptions(options);
    return this.#spawns.once(spec, options, () =>
      options.idempotencyKey === undefined
        ? this.#open(spec, options, (settings) => startThread(this.#codex, settings))
        : this.#spawnOnce(spec, options, options.idempotencyKey),
    );
  }

  async resume(sessionId: string, spec: AgentSpec, options: ProviderCallOptions = {}): Promise<AgentHandle> {
    this.#refuseWhenShutDown();
    checkResumeOptions(options);
    const held = this.#sessions.get(sessionId);
    if (this.#sessions.has(sessionId) && !held?.finished) {
      throw sessionBusy(sessionId);
    }
    this.#sessions.set(sessionId, undefined);
    try {
      const discarded = this.#discards.get(sessionId);
      const open: OpenThread = async (settings) => {
        // Codex may still be releasing it, or a cancelled call may still be opening it.
        await held?.released;
        await discarded;
        return resumeThread(this.#codex, sessionId, settings);
      };
      return await this.#open(spec, options, open, sessionId);
    } catch (error) {
      // A session with a handle removes itself.
      if (this.#sessions.get(sessionId) === undefined) this.#sessions.delete(sessionId);
      throw error;
    }
  }

  async export(sessionId: string, { signal }: ProviderCallOptions = {}): Promise<Uint8Array> {
    await this.#waitForRelease(sessionId, signal);
    return exportSession(this.#context.codexHome, sessionId);
  }

  async import(bytes: Uint8Array, { signal }: ProviderCallOptions = {}): Promise<string> {
    this.#refuseWhenShutDown();
    const image = await decodeImage(bytes);
    await this.#waitForRelease(image.sessionId, signal);
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
   * Spawns for a key that is new to this provider. If another process has used it, a completed session is not run again, and an
   * interrupted one is resumed.
   */
  async #spawnOnce(spec: AgentSpec, options: ProviderCallOptions, key: string): Promise<AgentHandle> {
    const parsed = parseSpec(spec);
    throwIfCancelled(options.signal);
    try {
      const sessionId = await this.#keys.find(key, parsed);
      if (sessionId !== undefined) {
        const turn = await openWithin(parsed, options.signal, (session) =>
          raceCancel(readLastTurn(this.#codex, sessionId), session),
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
      const opened = await startThread(this.#codex, settings);
      try {
        if (await this.#keys.claim(key, parsed, opened.thread.id)) return opened;
        const message = `Another process is starting the session of the idempotency key "${key}". Try again.`;
        throw new ProviderError("session_busy", message);
      } catch (error) {
        await discardThread(this.#codex, Promise.resolve(opened));
        throw error;
      }
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
    { signal }: ProviderCallOptions,
    open: OpenThread,
    resumed?: string,
  ): Promise<CodexHandle> {
    this.#refuseWhenShutDown();
    const parsed = parseSpec(spec);
    const plan = this.#plan(parsed);
    throwIfCancelled(signal);
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
    opening: Promise<OpenedThread>,
    signal: AbortSignal | undefined,
  ): Promise<CodexHandle> {
    try {
      const { thread, events } = await opening;
      const plan = this.#withPrice(unpriced, thread.settings.model);
      const handle = this.#adopt({ thread, events }, plan, signal);
      try {
        refuseIgnored(this.name, parsed, plan.ignored);
        if (this.#codex.pid !== undefined) parsed.onProcessSpawned?.(this.#codex.pid);
        // The provider may have been shut down while the thread was being opened.
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

  /** Waits for the thread. If the call is cancelled, the thread is released when it opens. */
  async #opened(
    opening: Promise<OpenedThread>,
    signal: AbortSignal | undefined,
    resumed: string | undefined,
  ): Promise<OpenedThread> {
    try {
      return await raceCancel(opening, signal);
    } catch (error) {
      const discarded = discardThread(this.#codex, opening);
      if (resumed !== undefined) {
        this.#discards.set(resumed, discarded);
        void discarded.then(() => this.#discards.delete(resumed));
      }
      throw error;
    }
  }

  #adopt({ thread, events }: OpenedThread, plan: SpawnPlan, signal: AbortSignal | undefined): CodexHandle {
    const handle = new CodexHandle({
      codex: this.#codex,
      thread,
      threadEvents: events,
      plan,
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

  /** The model is known once the thread is open. Without its price, `maxCostUsd` can't be enforced. */
  #withPrice(plan: SpawnPlan, model: string): SpawnPlan {
    const { maxCostUsd: _limit, ...budget } = plan.budget;
    const nothing = { model, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
    if (plan.budget.maxCostUsd === undefined || this.#pricer?.(nothing) !== undefined) return plan;
    const reason = `the model "${model}" has no price: add it to the provider's \`prices\``;
    return { ...plan, budget, ignored: [...plan.ignored, { field: "maxCostUsd", reason }] };
  }

  /** Waits until Codex has released a session that ended on this provider. */
  async #waitForRelease(sessionId: string, signal: AbortSignal | undefined): Promise<void> {
    this.#refuseWhenShutDown();
    throwIfCancelled(signal);
    const held = this.#sessions.get(sessionId);
    if (this.#sessions.has(sessionId) && !held?.finished) throw sessionBusy(sessionId);
    if (held) await raceCancel(held.released, signal);
  }

  #refuseWhenShutDown(): void {
    if (this.#shutdown)
      throw new ProviderError("shut_down", `The provider "${this.name}" has been shut down.`);
  }

  async #end(): Promise<void> {
    for (const handle of this.#sessions.values()) handle?.shutdown();
    await this.#codex.close();
  }
}

function sessionBusy(sessionId: string): ProviderError {
  return new ProviderError(
    "session_busy",
    `Session ${sessionId} is running. Stop it first, or inject text into it.`,
  );
}
