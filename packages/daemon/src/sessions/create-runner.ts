import { CODEX_VERSION, type CodexError, type CodexEvent, VERSION } from "codexkit";
import { BoundedMap, withTimeout } from "@codexkit/rpc/async";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Quota } from "../api/account.ts";
import type { FileMatch } from "../api/file.ts";
import type { AppServer, DaemonCodexOptions } from "../codex/app-server.ts";
import { type CredentialStatus, installCredentials, KEY_VARIABLES } from "../codex/credentials.ts";
import { RUNNER_LIMITS, type RunnerLimits } from "../codex/limits.ts";
import type { StderrLog } from "../codex/stderr-log.ts";
import { CodexPool } from "../codex/pool.ts";
import type { Database } from "../database.ts";
import { notificationKeys } from "../database/notifications.ts";
import { DaemonError } from "../errors.ts";
import { FileService } from "../files/file-service.ts";
import { readAccount, readModels, readQuotas, searchFiles } from "./catalog.ts";
import { isFenced } from "./problems.ts";
import type { AccountSummary, ModelSummary, Runner, RunnerStatus } from "./runner.ts";
import type { RunnerLogger, SessionDeps } from "./session-deps.ts";
import { SessionOwner } from "./session-owner.ts";
import { ThreadRoutes } from "./thread-routes.ts";
import { WEBHOOK_SETTINGS, type WebhookSettings } from "../webhooks/limits.ts";
import { Wake } from "../wake.ts";

export interface RunnerOptions {
  readonly database: Database;
  /** The daemon's folder. Its Codex home is below it. */
  readonly stateFolder: string;
  /** Default: one that serves no folder. */
  readonly files?: FileService;
  /** The same for every boot of this daemon, and unique among the daemons of a store. Default: `local`. */
  readonly nodeName?: string;
  readonly labels?: readonly string[];
  /** Where other nodes reach this one. */
  readonly url?: string;
  /** An OpenAI API key, which takes precedence over those of the environment and of login files. */
  readonly apiKey?: string;
  /** The user's Codex home, to look for a login in. Default: `$CODEX_HOME`, else `~/.codex`. */
  readonly userCodexHome?: string;
  readonly codex?: DaemonCodexOptions;
  readonly limits?: Partial<RunnerLimits>;
  /** Default: public addresses only. */
  readonly webhooks?: WebhookSettings;
  /** Keeps what app-servers print to standard error. */
  readonly stderr?: StderrLog;
  readonly log: RunnerLogger;
}

/** Creates the part of the daemon that runs sessions. It does nothing until it is started. */
export function createRunner(options: RunnerOptions): Runner {
  return new SessionRunner(options);
}

/** How long a model catalog is kept. */
const MODELS_MS = 60_000;

class SessionRunner implements Runner {
  readonly #options: RunnerOptions;
  readonly #limits: RunnerLimits;
  readonly #nodeName: string;
  readonly #codexHome: string;
  readonly #files: FileService;
  readonly #pool: CodexPool;
  readonly #owners = new Map<string, SessionOwner>();
  readonly #routes = new ThreadRoutes();
  readonly #listeners = new Set<(status: RunnerStatus) => void>();
  readonly #wake = new Wake();
  readonly #turns = { completed: 0, failed: 0, interrupted: 0 };
  readonly #cache = new BoundedMap<string, { readonly until: number; readonly value: Promise<unknown> }>(2);
  #state: RunnerStatus["state"] = "stopped";
  #nameLock: AsyncDisposable | undefined;
  #nodeId: string | null = null;
  #credentials: CredentialStatus = { kind: "none", source: null };
  #claiming: Promise<void> = Promise.resolve();
  #renewals: NodeJS.Timeout | undefined;
  #memoryChecks: NodeJS.Timeout | undefined;
  #subscription: Disposable | undefined;
  #recovered = 0;
  #ending: Promise<void> | undefined;
  /** Resolves when draining waits no longer for running turns. */
  readonly #waiting = Promise.withResolvers<void>();

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#limits = { ...RUNNER_LIMITS, ...options.limits };
    this.#nodeName = options.nodeName ?? "local";
    this.#codexHome = join(resolve(options.stateFolder), "codex");
    this.#files =
      options.files ??
      new FileService({ roots: [], stateFolder: resolve(options.stateFolder), nodeName: this.#nodeName });
    const { inheritEnv = true, env, ...codex } = options.codex ?? {};
    this.#pool = new CodexPool({
      store: options.database.appServers,
      nodeName: this.#nodeName,
      codexHome: this.#codexHome,
      launch: { ...codex, inheritEnv, env: { ...env, ...withoutKeys() } },
      limits: this.#limits,
      ...(options.stderr && { stderr: options.stderr }),
      onEvent: (server, event) => this.#onEvent(server, event),
      onEnd: (server, error) => this.#serverEnded(server, error),
    });
  }

  get status(): RunnerStatus {
    const owners = [...this.#owners.values()];
    return {
      state: this.#state,
      nodeId: this.#nodeId,
      sessions: owners.length,
      runningTurns: owners.filter(({ isBusy }) => isBusy).length,
      openApprovals: owners.reduce((sum, { openApprovals }) => sum + openApprovals, 0),
      appServers: this.#pool.summaries,
      turns: { ...this.#turns },
      appServerRestarts: this.#pool.restarts,
      recoveredSessions: this.#recovered,
    };
  }

  onChange(listener: (status: RunnerStatus) => void): Disposable {
    const entry = (status: RunnerStatus): void => listener(status);
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) };
  }

  async start(): Promise<void> {
    if (this.#state !== "stopped") throw new DaemonError("internal", "The runner was started before.");
    this.#setState("starting");
    const { apiKey, userCodexHome, database } = this.#options;
    await mkdir(this.#codexHome, { recursive: true, mode: 0o700 });
    this.#credentials = await installCredentials({ codexHome: this.#codexHome, apiKey, userCodexHome });
    // Before the app-servers: those of a running daemon with the same name are not ours.
    this.#nameLock = await database.nodes.takeName(this.#nodeName);
    await this.#pool.attach();
    await this.#register();
    this.#subscription = database.store.notifier.subscribe(notificationKeys.ready, () => this.#wake.set());
    this.#setState("running");
    this.#claiming = this.#claimLoop();
    this.#memoryChecks = setInterval(() => void this.#checkMemory(), this.#limits.memoryCheckMs);
    this.#memoryChecks.unref();
  }

  async models({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly ModelSummary[]> {
    return this.#cached("models", () => this.#withCodex((codex) => readModels(codex)), signal);
  }

  async account({ signal }: { readonly signal?: AbortSignal } = {}): Promise<AccountSummary> {
    signal?.throwIfAborted();
    return this.#withCodex((codex) => readAccount(codex));
  }

  async quotas({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly Quota[]> {
    return this.#cached("quotas", () => this.#withCodex((codex) => readQuotas(codex)), signal);
  }

  async searchFiles(
    query: string,
    options: { readonly folder: string; readonly signal?: AbortSignal },
  ): Promise<readonly FileMatch[]> {
    return this.#withCodex((codex) => searchFiles(codex, query, options));
  }

  credentialStatus(): CredentialStatus {
    return this.#credentials;
  }

  drain(timeoutMs: number): Promise<void> {
    if (timeoutMs <= 0) this.#waiting.resolve();
    this.#ending ??= this.#drain(timeoutMs);
    return this.#ending;
  }

  close(): Promise<void> {
    return this.drain(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #register(): Promise<void> {
    const { database, labels = [], url } = this.#options;
    this.#nodeId = await database.nodes.register({
      name: this.#nodeName,
      labels: this.#labels(labels),
      capacity: this.#limits.ownedSessions,
      version: VERSION,
      codexVersion: CODEX_VERSION,
      ...(url === undefined ? {} : { url }),
    });
    clearInterval(this.#renewals);
    this.#renewals = setInterval(() => void this.#renew(), this.#limits.renewMs);
    this.#renewals.unref();
  }

  #labels(labels: readonly string[]): readonly string[] {
    return [...labels, `node:${this.#nodeName}`];
  }

  async #renew(): Promise<void> {
    const nodeId = this.#nodeId;
    if (nodeId === null || this.#state === "closed") return;
    try {
      const state = this.#state === "draining" ? "draining" : "up";
      if (await this.#options.database.nodes.renew(nodeId, { state })) return;
      // The lease has ended, so that the sessions may have other owners by now.
      await Promise.all([...this.#owners.values()].map((owner) => owner.abandon()));
      if (this.#state === "running") await this.#register();
      this.#wake.set();
    } catch (error) {
      this.#options.log.warn({ err: error }, "The lease of this node could not be renewed");
    }
  }

  async #claimLoop(): Promise<void> {
    while (this.#state === "running") {
      try {
        await this.#claim();
      } catch (error) {
        this.#options.log.error({ err: error }, "Sessions could not be claimed");
      }
      if (this.#state === "running") await this.#wake.wait(this.#limits.claimMs);
    }
  }

  async #claim(): Promise<void> {
    const nodeId = this.#nodeId;
    if (nodeId === null) return;
    const limit = this.#limits.ownedSessions - this.#owners.size;
    if (limit <= 0) {
      await this.#releaseIdle();
      return;
    }
    const { database, labels = [] } = this.#options;
    const claimed = await database.sessions.claim({
      nodeId,
      name: this.#nodeName,
      limit,
      labels: this.#labels(labels),
      codexVersion: CODEX_VERSION,
    });
    for (const session of claimed) {
      if (session.reason !== "ready") this.#recovered += 1;
      await this.#owners.get(session.sessionId)?.abandon();
      const owner = new SessionOwner(session, this.#sessionDeps());
      this.#owners.set(session.sessionId, owner);
      owner.start();
    }
    if (claimed.length > 0) this.#changed();
    // There may be more than the limit of one query.
    if (claimed.length === limit) this.#wake.set();
  }

  /** Makes room for sessions with something to do. */
  async #releaseIdle(): Promise<void> {
    const idle = [...this.#owners.values()].filter((owner) => owner.isIdle);
    await Promise.all(
      idle.slice(0, Math.ceil(this.#limits.ownedSessions / 4)).map((owner) => owner.release()),
    );
  }

  #sessionDeps(): SessionDeps {
    const { database, log, webhooks = WEBHOOK_SETTINGS } = this.#options;
    return {
      database,
      webhooks,
      pool: this.#pool,
      limits: this.#limits,
      codexHome: this.#codexHome,
      files: this.#files,
      log,
      threads: this.#routes,
      onTurnEnd: (end) => {
        this.#turns[end] += 1;
        this.#changed();
      },
      onReleased: (released) => {
        for (const [sessionId, owner] of this.#owners) {
          if (owner === released) this.#owners.delete(sessionId);
        }
        this.#wake.set();
        this.#changed();
      },
      onChange: () => this.#changed(),
    };
  }

  /** Returns a promise only if the reader must wait: a promise per event would cost more than the event. */
  #onEvent(server: AppServer, event: CodexEvent): Promise<void> | undefined {
    const { journal } = this.#options.database;
    try {
      this.#routes.deliver(event, server);
    } catch (error) {
      // The reader must go on: it carries the events of all sessions of the server.
      if (!isFenced(error)) this.#options.log.error({ err: error }, "An event could not be handled");
    }
    return journal.hasCapacity ? undefined : journal.waitForCapacity();
  }

  #serverEnded(server: AppServer, error: CodexError): void {
    for (const owner of this.#owners.values()) owner.serverEnded(server, error);
    this.#changed();
  }

  async #drain(timeoutMs: number): Promise<void> {
    const { database, log } = this.#options;
    this.#setState("draining");
    this.#subscription?.[Symbol.dispose]();
    clearInterval(this.#memoryChecks);
    this.#wake.set();
    await this.#claiming;
    for (const owner of this.#owners.values()) owner.drain();
    await this.#untilIdle(timeoutMs);
    await this.#parkWaiting("drain");
    await Promise.all([...this.#owners.values()].map((owner) => owner.interrupt()));
    const released = Promise.all([...this.#owners.values()].map((owner) => owner.release()));
    await this.#atMost(released);
    // Calls to a codex that does not respond end here.
    await this.#pool.close();
    await this.#atMost(released);
    clearInterval(this.#renewals);
    if (this.#nodeId !== null) {
      await database.nodes.retire(this.#nodeId).catch((error: unknown) => {
        log.warn({ err: error }, "The node could not be retired. Its lease ends by itself");
      });
    }
    await this.#nameLock?.[Symbol.asyncDispose]();
    this.#setState("closed");
  }

  /** Parks the requests that wait for a person, so that their threads need no process. */
  async #parkWaiting(reason: "drain" | "memory"): Promise<void> {
    const waiting = [...this.#owners.values()].filter((owner) => owner.openApprovals > 0);
    const parked = Promise.all(
      waiting.map(async (owner) => {
        await owner.park(reason).catch((error: unknown) => {
          this.#options.log.warn({ err: error }, "Requests of a session could not be parked");
        });
      }),
    );
    await this.#atMost(parked);
  }

  async #checkMemory(): Promise<void> {
    if (this.#state !== "running" || process.availableMemory() >= this.#limits.minAvailableMemory) return;
    await this.#parkWaiting("memory");
  }

  async #atMost(work: Promise<unknown>): Promise<void> {
    const { interruptMs } = this.#limits;
    const toError = (): Error =>
      new DaemonError("timeout", `Sessions were not released within ${interruptMs} ms.`);
    await withTimeout(work, interruptMs, toError).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, "Draining goes on without some sessions");
    });
  }

  /** Resolves when no turn is running, or after the time limit. */
  async #untilIdle(timeoutMs: number): Promise<void> {
    // A turn that waits for a person is parked, which takes no time.
    const isBusy = (): boolean =>
      [...this.#owners.values()].some(
        (owner) => (owner.isBusy || owner.isDelivering) && owner.openApprovals === 0,
      );
    if (timeoutMs <= 0 || !isBusy()) return;
    const timer = setTimeout(this.#waiting.resolve, timeoutMs);
    using _listener = this.onChange(() => {
      if (!isBusy()) this.#waiting.resolve();
    });
    await this.#waiting.promise;
    clearTimeout(timer);
  }

  async #withCodex<Value>(use: (codex: AppServer["codex"]) => Promise<Value>): Promise<Value> {
    using lease = await this.#pool.acquire({ sessionId: "", dedicated: false });
    return await use(lease.server.codex);
  }

  async #cached<Value>(key: string, read: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    signal?.throwIfAborted();
    const kept = this.#cache.get(key);
    if (kept && kept.until > Date.now()) return kept.value as Promise<Value>;
    const value = read();
    this.#cache.set(key, { until: Date.now() + MODELS_MS, value });
    value.catch(() => this.#cache.delete(key));
    return value;
  }

  #setState(state: RunnerStatus["state"]): void {
    this.#state = state;
    this.#changed();
  }

  #changed(): void {
    if (this.#listeners.size === 0) return;
    const { status } = this;
    for (const listener of this.#listeners) listener(status);
  }
}

/** Codex's home has the keys. Its commands must not find them in their environment. */
function withoutKeys(): Record<string, undefined> {
  return Object.fromEntries(KEY_VARIABLES.map((name) => [name, undefined]));
}
