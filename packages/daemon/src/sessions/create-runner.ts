import { CODEX_VERSION, type CodexError, type CodexEvent, VERSION } from "codexkit";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Quota } from "../api/account.ts";
import type { FileMatch } from "../api/file.ts";
import type { AppServer, DaemonCodexOptions } from "../codex/app-server.ts";
import { type CredentialStatus, installCredentials, KEY_VARIABLES } from "../codex/credentials.ts";
import { RUNNER_LIMITS, type RunnerLimits } from "../codex/limits.ts";
import type { StderrLog } from "../codex/stderr-log.ts";
import { CodexPool } from "../codex/pool.ts";
import type { Database } from "../database.ts";
import { DaemonError } from "../errors.ts";
import { FileService } from "../files/file-service.ts";
import { AppServerGuard } from "../fleet/app-server-guard.ts";
import { FLEET_LIMITS, type FleetLimits } from "../fleet/limits.ts";
import { NodeLease } from "../fleet/node-lease.ts";
import { orphanGraceMs } from "../fleet/watchdog.ts";
import { CodexQueries } from "./codex-queries.ts";
import { OwnedSessions } from "./owned-sessions.ts";
import { isFenced } from "./problems.ts";
import {
  type AccountSummary,
  type ModelSummary,
  NO_FLEET_STATUS,
  type Runner,
  type RunnerStatus,
} from "./runner.ts";
import { SessionClaims } from "./session-claims.ts";
import type { RunnerLogger, SessionDeps } from "./session-deps.ts";
import { ThreadRoutes } from "./thread-routes.ts";
import { WEBHOOK_SETTINGS, type WebhookSettings } from "../webhooks/limits.ts";

export interface RunnerOptions {
  readonly database: Database;
  /** The daemon's folder. Its Codex home is below it. */
  readonly stateFolder: string;
  /** Default: a service without folders. */
  readonly files?: FileService;
  /** The same for every boot of this daemon, and unique among the daemons of a store. Default: `local`. */
  readonly nodeName?: string;
  readonly labels?: readonly string[];
  /** Where other nodes reach this one. */
  readonly url?: string;
  /** An OpenAI API key, which takes precedence over those of the environment and of login files. */
  readonly apiKey?: string;
  /** The user's Codex home, which is searched for a login. Default: `$CODEX_HOME`, else `~/.codex`. */
  readonly userCodexHome?: string;
  readonly codex?: DaemonCodexOptions;
  readonly limits?: Partial<RunnerLimits>;
  /** Default: `FLEET_LIMITS`. */
  readonly fleet?: FleetLimits;
  /** Maximum number of sessions owned at the same time. Default: 200. */
  readonly capacity?: number;
  /** Default: public addresses only. */
  readonly webhooks?: WebhookSettings;
  /** Keeps what app-servers print to standard error. */
  readonly stderr?: StderrLog;
  /** How long running turns may take to end when the node is asked to drain, in milliseconds. Default: 30,000. */
  readonly drainMs?: number;
  /** Called when no other daemon can have the name any more, and before any session is claimed. */
  readonly onNameTaken?: () => Promise<void>;
  readonly log: RunnerLogger;
}

/** Creates the runner of the daemon's sessions. It does nothing until it is started. */
export function createRunner(options: RunnerOptions): Runner {
  return new SessionRunner(options);
}

const DEFAULT_CAPACITY = 200;
const DEFAULT_DRAIN_MS = 30_000;

class SessionRunner implements Runner {
  readonly #options: RunnerOptions;
  readonly #limits: RunnerLimits;
  readonly #fleet: FleetLimits;
  readonly #capacity: number;
  readonly #nodeName: string;
  readonly #labels: readonly string[];
  readonly #stateFolder: string;
  readonly #codexHome: string;
  readonly #files: FileService;
  readonly #pool: CodexPool;
  readonly #queries: CodexQueries;
  /** Undefined with SQLite, because no other daemon can take over the sessions. */
  readonly #guard: AppServerGuard | undefined;
  readonly #sessions: OwnedSessions;
  readonly #routes = new ThreadRoutes();
  readonly #listeners = new Set<(status: RunnerStatus) => void>();
  readonly #turns = { completed: 0, failed: 0, interrupted: 0 };
  #state: RunnerStatus["state"] = "stopped";
  #nameLock: AsyncDisposable | undefined;
  #lease: NodeLease | undefined;
  #claims: SessionClaims | undefined;
  #credentials: CredentialStatus = { kind: "none", source: null };
  #memoryChecks: NodeJS.Timeout | undefined;
  #emptying: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  /** Resolves when draining stops waiting for running turns. */
  readonly #waiting = Promise.withResolvers<void>();

  constructor(options: RunnerOptions) {
    const { database, labels = [], log } = options;
    this.#options = options;
    this.#fleet = options.fleet ?? FLEET_LIMITS;
    const isFleet = database.store.kind === "postgres";
    const limits = { ...RUNNER_LIMITS, ...options.limits };
    const graceMs = Math.min(limits.appServerGraceMs, orphanGraceMs(this.#fleet));
    this.#limits = isFleet ? { ...limits, appServerGraceMs: graceMs } : limits;
    this.#capacity = options.capacity ?? DEFAULT_CAPACITY;
    this.#nodeName = options.nodeName ?? "local";
    this.#labels = [...labels, `node:${this.#nodeName}`];
    this.#stateFolder = resolve(options.stateFolder);
    this.#codexHome = join(this.#stateFolder, "codex");
    this.#files = options.files ?? new FileService({ roots: [], stateFolder: this.#stateFolder });
    this.#guard = isFleet ? new AppServerGuard() : undefined;
    const { inheritEnv = true, env, ...codex } = options.codex ?? {};
    this.#pool = new CodexPool({
      store: database.appServers,
      nodeName: this.#nodeName,
      codexHome: this.#codexHome,
      launch: { ...codex, inheritEnv, env: { ...env, ...withoutKeys() } },
      limits: this.#limits,
      ...(options.stderr && { stderr: options.stderr }),
      ...(this.#guard && { guard: this.#guard }),
      onEvent: (server, event) => this.#onEvent(server, event),
      onEnd: (server, error) => this.#serverEnded(server, error),
    });
    this.#queries = new CodexQueries(this.#pool);
    this.#sessions = new OwnedSessions({
      deps: () => this.#sessionDeps(),
      interruptMs: this.#limits.interruptMs,
      log,
      onChange: () => this.#changed(),
    });
  }

  get status(): RunnerStatus {
    const claims = this.#claims?.counts ?? NO_FLEET_STATUS.claims;
    return {
      state: this.#state,
      nodeId: this.#lease?.nodeId ?? null,
      sessions: this.#sessions.size,
      runningTurns: this.#sessions.runningTurns,
      openApprovals: this.#sessions.openApprovals,
      appServers: this.#pool.summaries,
      turns: { ...this.#turns },
      appServerRestarts: this.#pool.restarts,
      recoveredSessions: claims.restart + claims.node_lost,
      fleet: {
        leaseAgeMs: this.#lease?.ageMs ?? null,
        isFrozen: this.#guard?.isFrozen === true,
        fenced: this.#sessions.fenced,
        claims: { ...claims },
        renewals: { ...(this.#lease?.renewals ?? NO_FLEET_STATUS.renewals) },
      },
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
    const { apiKey, userCodexHome, database, log } = this.#options;
    await mkdir(this.#codexHome, { recursive: true, mode: 0o700 });
    this.#credentials = await installCredentials({ codexHome: this.#codexHome, apiKey, userCodexHome });
    // Before attaching to app-servers, which would otherwise include those of a running daemon with the same name.
    this.#nameLock = await database.nodes.takeName(this.#nodeName, {
      formerId: await readFile(this.#bootFile, "utf8").catch(() => undefined),
      onWait: (nodeId) =>
        log.warn(
          { nodeId },
          "A daemon with this name ran in another state folder. The start continues when its lease has ended",
        ),
    });
    await this.#options.onNameTaken?.();
    this.#lease = await this.#acquireLease();
    // After the watchdog was started, because attached app-servers are already active.
    await this.#pool.attach();
    this.#claims = new SessionClaims({
      database,
      lease: this.#lease,
      sessions: this.#sessions,
      name: this.#nodeName,
      labels: this.#labels,
      capacity: this.#capacity,
      claimMs: this.#limits.claimMs,
      fleet: this.#fleet,
      log,
      onChange: () => this.#changed(),
    });
    this.#setState("running");
    this.#claims.start();
    this.#memoryChecks = setInterval(() => void this.#checkMemory(), this.#limits.memoryCheckMs);
    this.#memoryChecks.unref();
  }

  models({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly ModelSummary[]> {
    return this.#queries.models(signal);
  }

  account({ signal }: { readonly signal?: AbortSignal } = {}): Promise<AccountSummary> {
    return this.#queries.account(signal);
  }

  quotas({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly Quota[]> {
    return this.#queries.quotas(signal);
  }

  searchFiles(
    query: string,
    options: { readonly folder: string; readonly signal?: AbortSignal },
  ): Promise<readonly FileMatch[]> {
    return this.#queries.searchFiles(query, options);
  }

  credentialStatus(): CredentialStatus {
    return this.#credentials;
  }

  releaseSessions(timeoutMs: number): Promise<void> {
    if (timeoutMs <= 0) this.#waiting.resolve();
    this.#emptying ??= this.#releaseAll(timeoutMs);
    return this.#emptying;
  }

  drain(timeoutMs: number): Promise<void> {
    if (timeoutMs <= 0) this.#waiting.resolve();
    this.#ending ??= this.#end(timeoutMs);
    return this.#ending;
  }

  close(): Promise<void> {
    return this.drain(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Contains the ID of the newest boot. */
  get #bootFile(): string {
    return join(this.#stateFolder, "boot");
  }

  async #acquireLease(): Promise<NodeLease> {
    const { database, url, log } = this.#options;
    const guard = this.#guard;
    return NodeLease.acquire({
      database,
      limits: this.#fleet,
      node: {
        name: this.#nodeName,
        labels: this.#labels,
        capacity: this.#capacity,
        version: VERSION,
        codexVersion: CODEX_VERSION,
        ...(url === undefined ? {} : { url }),
      },
      report: () => ({
        state: this.#state === "draining" ? "draining" : "up",
        turns: this.#sessions.runningTurns,
      }),
      freeze: () => {
        if (!guard) return;
        log.warn(
          {},
          "The lease could not be renewed in time. The app-servers are stopped until it is renewed",
        );
        guard.freeze();
        this.#changed();
      },
      thaw: () => {
        if (!guard) return;
        guard.thaw();
        log.info({}, "The lease was renewed. The app-servers continue");
        this.#claims?.wake();
        this.#changed();
      },
      kill: () => guard?.kill(),
      onRenewed: (sentAt) => guard?.renewed(sentAt),
      onRegistered: async (nodeId, renewedAt) => {
        await database.nodes.retireFormer(this.#nodeName, nodeId);
        this.#claims?.wake();
        if (!guard) return;
        const bootFile = this.#bootFile;
        await writeFile(bootFile, nodeId);
        const onWarning = (message: string): void => log.warn({}, message);
        guard.watch({ nodeId, bootFile, limits: this.#fleet, renewedAt, onWarning });
      },
      keepOnly: (sessionIds) => this.#sessions.keepOnly(sessionIds, (server) => guard && server.kill()),
      onDrainRequested: () => this.#drainByRequest(),
      onWarning: (error, message) => log.warn(error === undefined ? {} : { err: error }, message),
    });
  }

  #sessionDeps(): SessionDeps {
    const { database, log, webhooks = WEBHOOK_SETTINGS } = this.#options;
    return {
      database,
      webhooks,
      nodeName: this.#nodeName,
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
      onFenced: (server) => {
        this.#sessions.fenced += 1;
        // With SQLite, no other daemon can have taken the session.
        if (this.#guard) server?.kill();
      },
      onReleased: (released) => {
        this.#sessions.remove(released);
        this.#claims?.wake();
        this.#changed();
      },
      onChange: () => this.#changed(),
    };
  }

  /** Returns a promise only if the reader must wait. A promise per event would cost more than handling the event. */
  #onEvent(server: AppServer, event: CodexEvent): Promise<void> | undefined {
    const { journal } = this.#options.database;
    try {
      this.#routes.deliver(event, server);
    } catch (error) {
      // The reader must continue, because it delivers the events of all sessions of the server.
      if (!isFenced(error)) this.#options.log.error({ err: error }, "An event could not be handled");
    }
    return journal.hasCapacity ? undefined : journal.waitForCapacity();
  }

  #serverEnded(server: AppServer, error: CodexError): void {
    this.#sessions.serverEnded(server, error);
    this.#changed();
  }

  /** Releases all sessions. The node keeps running until the daemon is closed, and still serves what is stored. */
  #drainByRequest(): void {
    if (this.#state !== "running") return;
    const { drainMs = DEFAULT_DRAIN_MS, log } = this.#options;
    log.info({ drainMs }, "The node was asked to drain");
    void this.releaseSessions(drainMs);
  }

  async #end(timeoutMs: number): Promise<void> {
    await this.releaseSessions(timeoutMs);
    await this.#lease?.[Symbol.asyncDispose]();
    this.#guard?.[Symbol.dispose]();
    await this.#nameLock?.[Symbol.asyncDispose]();
    this.#setState("closed");
  }

  async #releaseAll(timeoutMs: number): Promise<void> {
    this.#setState("draining");
    clearInterval(this.#memoryChecks);
    // From now on, other nodes reserve no sessions for this one.
    const reported = this.#lease?.report();
    await this.#claims?.stop();
    this.#sessions.drain();
    await this.#sessions.parkWaiting("drain");
    await this.#untilIdle(timeoutMs);
    await this.#sessions.parkWaiting("drain");
    await this.#sessions.interrupt();
    const released = this.#sessions.release();
    await this.#sessions.atMost(released);
    // Ends calls to an app-server that does not respond.
    await this.#pool.close();
    await this.#sessions.atMost(released);
    await reported;
  }

  async #checkMemory(): Promise<void> {
    if (this.#state !== "running" || process.availableMemory() >= this.#limits.minAvailableMemory) return;
    await this.#sessions.parkWaiting("memory");
  }

  /** Resolves when no turn is running, or after the time limit. */
  async #untilIdle(timeoutMs: number): Promise<void> {
    if (timeoutMs <= 0 || !this.#sessions.isBusy) return;
    const timer = setTimeout(this.#waiting.resolve, timeoutMs);
    using _listener = this.onChange(() => {
      if (!this.#sessions.isBusy) this.#waiting.resolve();
    });
    await this.#waiting.promise;
    clearTimeout(timer);
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

/** Codex reads the keys from its home. Its commands must not find them in their environment. */
function withoutKeys(): Record<string, undefined> {
  return Object.fromEntries(KEY_VARIABLES.map((name) => [name, undefined]));
}
