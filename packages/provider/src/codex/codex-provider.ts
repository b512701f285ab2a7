import type { AskHandler } from "@codexkit/approvals";
import { Codex, CodexError, type LaunchOptions, type Thread } from "codexkit";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentHandle, AgentProvider, CallOptions } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { AgentCapabilities } from "../contract/capabilities.ts";
import { refuseIgnored } from "../contract/ignored-field.ts";
import { parseSpec } from "../contract/parse-spec.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { CODEX_CAPABILITIES } from "./codex-capabilities.ts";
import { LIMITS } from "./limits.ts";
import { permissionHandlers } from "./permissions/permission-handlers.ts";
import { type PlanContext, planSpawn, type SpawnPlan } from "./plan/plan-spawn.ts";
import { CodexHandle } from "./session/codex-handle.ts";
import { Switchboard } from "./session/switchboard.ts";
import { unloadThread } from "./session/unload-thread.ts";
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
  readonly #board = new Switchboard();
  /** By session id; undefined while it is being resumed. */
  readonly #sessions = new Map<string, CodexHandle | undefined>();
  #shutdown: Promise<void> | undefined;

  private constructor(codex: Codex, codexHome: string, options: CodexProviderOptions) {
    this.name = options.name ?? "codex";
    this.#codex = codex;
    this.#ask = options.ask;
    const { TMPDIR } = { ...(options.inheritEnv === false ? {} : process.env), ...options.env };
    const tempFolders = TMPDIR ? ["/tmp", TMPDIR] : ["/tmp"];
    this.#context = { codexHome, tempFolders, canAsk: options.ask !== undefined };
    this.#interruptTimeoutMs = options.interruptTimeoutMs ?? LIMITS.interruptMs;
    void this.#board.read(codex);
  }

  /**
   * Starts codex, so that what is missing shows here and not in the middle of work.
   * @throws {ProviderError} `provider_unavailable` when there is no codex, or an old or a broken one.
   */
  static async create(options: CodexProviderOptions = {}): Promise<CodexProvider> {
    const { name: _name, ask: _ask, interruptTimeoutMs: _timeout, ...launch } = options;
    try {
      await using made = new AsyncDisposableStack();
      const codex = made.use(await Codex.launch(launch));
      const { codexHome } = await codex.server();
      made.move();
      return new CodexProvider(codex, codexHome, options);
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

  async spawn(spec: AgentSpec, options: CallOptions = {}): Promise<AgentHandle> {
    return this.#open(spec, options, (thread) => this.#codex.startThread(thread));
  }

  async resume(sessionId: string, spec: AgentSpec, options: CallOptions = {}): Promise<AgentHandle> {
    this.#refuseWhenShutDown();
    const held = this.#sessions.get(sessionId);
    if (this.#sessions.has(sessionId) && !held?.finished) {
      throw new ProviderError(
        "session_busy",
        `Session ${sessionId} is at work here. Stop it first, or inject.`,
      );
    }
    this.#sessions.set(sessionId, undefined);
    try {
      // Codex may still be letting go of it.
      await held?.released;
      this.#board.expect(sessionId);
      return await this.#open(spec, options, (thread) => this.#resumeThread(sessionId, thread));
    } catch (error) {
      // One that had begun is on its way out by itself.
      if (this.#sessions.get(sessionId) === undefined) {
        this.#sessions.delete(sessionId);
        this.#board.forget(sessionId);
      }
      throw error;
    }
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#end();
    return this.#shutdown;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  async #open(spec: AgentSpec, { signal }: CallOptions, open: OpenThread): Promise<CodexHandle> {
    this.#refuseWhenShutDown();
    const parsed = parseSpec(spec);
    const hasAuthFile = existsSync(join(this.#context.codexHome, "auth.json"));
    const plan = planSpawn(parsed, { ...this.#context, hasAuthFile });
    refuseIgnored(this.name, parsed, plan.ignored);
    refuseAborted(signal);
    const ask = parsed.autonomous === false ? this.#ask : undefined;
    const handlers = permissionHandlers(plan.permissions, { cwd: parsed.cwd, ask });
    try {
      const thread = await this.#opened(open({ ...plan.thread, handlers }), signal);
      const handle = this.#adopt(thread, plan, signal);
      try {
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

  /** A thread that comes when nobody waits for it any more is let go of. */
  async #opened(opening: Promise<Thread>, signal: AbortSignal | undefined): Promise<Thread> {
    try {
      return await untilAborted(opening, signal);
    } catch (error) {
      opening
        .then(async (thread) => {
          await thread.close();
          await unloadThread(this.#codex, thread.id);
          this.#board.forget(thread.id);
        })
        .catch(() => {});
      throw error;
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

  #refuseWhenShutDown(): void {
    if (this.#shutdown) throw new ProviderError("shut_down", `The provider "${this.name}" was shut down.`);
  }

  async #end(): Promise<void> {
    for (const handle of this.#sessions.values()) handle?.shutdown();
    await this.#codex.close();
  }
}
