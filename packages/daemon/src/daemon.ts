import type { HttpServer } from "@codexkit/rpc";
import type { Hono } from "hono";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { SessionSettings } from "./api/settings.ts";
import type { Database } from "./database.ts";
import type { DebugSources } from "./debug/debug-bundle.ts";
import { DaemonError } from "./errors.ts";
import type { FileService } from "./files/file-service.ts";
import type { OriginRules } from "./http/check-origin.ts";
import { createHttp } from "./http/create-http.ts";
import type { TestCommand } from "./http/history-handlers.ts";
import { createNodeHandler, isLoopback, type NodeHandler, startHttpServer } from "./http/http-server.ts";
import { createUpgradeHandler, type UpgradeHandler } from "./http/upgrade.ts";
import { Metrics } from "./http/metrics.ts";
import type { FleetLimits } from "./fleet/limits.ts";
import type { SharedRoots } from "./session-store/needs.ts";
import type { Retention } from "./journal/retention.ts";
import type { HttpLimits } from "./limits.ts";
import type { Runner } from "./sessions/runner.ts";
import { WebhookDeliverer } from "./webhooks/deliverer.ts";
import type { WebhookSettings } from "./webhooks/limits.ts";
import type { StaticFiles } from "./http/static-files.ts";
import type { TerminalService } from "./terminals/terminal-service.ts";
import type { CliThreads } from "./threads/cli-threads.ts";
import type { TokenStore } from "./tokens/token-store.ts";
import { StagedSession } from "./transfer/staged-session.ts";

const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

/** How long open connections may take to end after the streams were ended, in milliseconds. */
const CLOSE_GRACE_MS = 2000;

export interface DaemonParts {
  readonly database: Database;
  readonly runner: Runner;
  readonly files: FileService;
  readonly terminals: TerminalService;
  readonly threads: CliThreads | undefined;
  readonly debug: DebugSources;
  readonly logger: Logger;
  readonly limits: HttpLimits;
  readonly origins: OriginRules;
  readonly staticFiles: StaticFiles | undefined;
  readonly auth: "tokens" | "none";
  /** Resolved folders. */
  readonly roots: readonly string[];
  /** Resolved folders by label. They are among the roots. */
  readonly sharedRoots: SharedRoots;
  readonly fleetLimits: FleetLimits;
  readonly defaults: SessionSettings;
  readonly nodeName: string;
  readonly drainMs: number;
  readonly retention: Retention & { readonly everyMs: number };
  readonly testCommand: TestCommand;
  readonly webhooks: WebhookSettings;
  /** Whether a session is replayed. */
  readonly isReadOnly: boolean;
  /** Called last when the daemon closes. */
  readonly onClosed?: () => Promise<void>;
}

/** A running daemon. Create one with `createDaemon`. */
export class Daemon implements AsyncDisposable {
  /** The API as a hono app, to mount in another app: `app.route("/codex", daemon.app)`. */
  readonly app: Hono;
  /** The API as a request listener for Node's HTTP server. */
  readonly handler: NodeHandler;
  /**
   * Upgrades the WebSockets of terminals. `listen` uses it automatically. If you use your own server, pass this to its `upgrade`
   * event.
   */
  readonly upgrade: UpgradeHandler;
  readonly #parts: DaemonParts;
  readonly #closing = new AbortController();
  readonly #retentionTimer: NodeJS.Timeout;
  readonly #webhooks: WebhookDeliverer;
  /** Aborted when the shutdown must not wait any longer. */
  readonly #hurry = new AbortController();
  /** When the drain began. */
  #drainingSince: number | undefined;
  #retaining: Promise<void> | undefined;
  #server: HttpServer | undefined;
  #closed: Promise<void> | undefined;

  /** @internal */
  constructor(parts: DaemonParts) {
    this.#parts = parts;
    const services = {
      ...parts,
      metrics: new Metrics(parts.runner, {
        countParked: async () => parts.database.parked.count(),
        countFleet: async () => parts.database.fleet.counts(),
      }),
      version,
      closing: this.#closing.signal,
      onDrain: () => void this.drain(),
      isClosing: () => this.#closed !== undefined,
    };
    this.app = createHttp(services, parts.testCommand);
    this.handler = createNodeHandler((request, env) => this.app.fetch(request, env), {
      ...parts.limits,
      isEnding: () => parts.runner.status.state === "draining" || parts.runner.status.state === "closed",
    });
    parts.runner.onChange(({ state }) => {
      // A node may also drain because its fleet was asked for that.
      if (state === "draining") this.#drainingSince ??= performance.now();
    });
    const { database, webhooks, logger } = parts;
    this.#webhooks = new WebhookDeliverer({ ...webhooks, database, log: logger });
    this.upgrade = createUpgradeHandler({
      fetch: (request, env) => this.app.fetch(request, env),
      limits: parts.terminals.limits,
      heartbeatMs: parts.limits.heartbeatMs,
      proxyTimeoutMs: parts.fleetLimits.proxyTimeoutMs,
      closing: this.#closing.signal,
    });
    this.#retentionTimer = setInterval(() => this.#applyRetention(), parts.retention.everyMs);
    this.#retentionTimer.unref();
  }

  /** The API as a function from request to response. */
  readonly fetch = async (request: Request): Promise<Response> => this.app.fetch(request);

  /** Tokens of this daemon, for programs that embed it. */
  get tokens(): TokenStore {
    return this.#parts.database.tokens;
  }

  /** Where the daemon listens. Undefined before `listen`. */
  get url(): string | undefined {
    return this.#server?.url;
  }

  /** Listens on a host and port. Default: 127.0.0.1 and a free port. Rejects if other machines could connect without a token. */
  async listen({ host = "127.0.0.1", port = 0 }: { host?: string; port?: number } = {}): Promise<string> {
    const { auth, limits, logger } = this.#parts;
    if (this.#closed) throw new DaemonError("closed", "The daemon was closed. Create another one.");
    if (this.#server)
      throw new DaemonError("bad_options", `The daemon listens on ${this.#server.url} already.`);
    if (auth === "none" && !isLoopback(host)) {
      throw new DaemonError(
        "bad_options",
        `Listening on ${host} without tokens would let anyone run commands. Use auth: "tokens", or 127.0.0.1.`,
      );
    }
    this.#server = await startHttpServer(this.handler, { host, port, limits, onUpgrade: this.upgrade });
    logger.info({ url: this.#server.url }, "listening");
    return this.#server.url;
  }

  /**
   * Refuses new commands, waits for running turns, interrupts the rest, and ends codex. Clients can still read, and the node keeps
   * its lease until `close`. `drain(0)` also ends the wait of an earlier call or of `close`.
   */
  async drain(timeoutMs: number = this.#parts.drainMs): Promise<void> {
    this.#parts.logger.info({ timeoutMs }, "draining");
    this.#drainingSince ??= performance.now();
    if (timeoutMs <= 0) this.#hurry.abort();
    await this.#parts.runner.releaseSessions(timeoutMs);
  }

  /**
   * Drains, then ends streams and connections and closes the store. If other nodes are up, it listens for at least
   * `limits.fleet.drainListenMs` from the start of the drain, unless `drainMs` is 0.
   */
  async close(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(options.drainMs ?? this.#parts.drainMs);
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** No new run is started while the previous one is running. */
  #applyRetention(): void {
    const { logger } = this.#parts;
    this.#retaining ??= this.#retain()
      .catch((error: unknown) => logger.warn({ err: error }, "could not apply retention"))
      .finally(() => {
        this.#retaining = undefined;
      });
  }

  async #retain(): Promise<void> {
    const { database, retention, webhooks, files, logger } = this.#parts;
    await files.removeImages(database);
    await database.sessions.purgeDeleted();
    const result = await database.journal.retain(retention);
    await database.webhooks.prune(webhooks.limits.keepMs);
    await database.logins.prune();
    await StagedSession.cleanUp(database);
    await database.rollouts.compactIdle(this.#closing.signal);
    logger.debug(result, "applied retention");
  }

  /** Waits until load balancers can have noticed the drain, because they send requests until then. Never rejects. */
  async #waitForBalancers(): Promise<void> {
    const { database, runner, fleetLimits } = this.#parts;
    const { signal } = this.#hurry;
    if (database.store.kind !== "postgres" || !this.#server || signal.aborted) return;
    // If the store can't be reached, there may be others.
    const hasOthers = await database.fleet.hasOthers(runner.status.nodeId).catch(() => true);
    const elapsedMs = performance.now() - (this.#drainingSince ?? 0);
    if (!hasOthers || elapsedMs >= fleetLimits.drainListenMs) return;
    await delay(fleetLimits.drainListenMs - elapsedMs, undefined, { signal }).catch(() => {});
  }

  async #close(drainMs: number): Promise<void> {
    const { runner, terminals, database, logger } = this.#parts;
    clearInterval(this.#retentionTimer);
    try {
      const drained = this.drain(drainMs);
      const noticed = this.#waitForBalancers();
      await drained;
      await runner.close();
      await noticed;
    } finally {
      await terminals.close();
      this.#closing.abort();
      await this.#webhooks.close();
      await this.#server?.close(CLOSE_GRACE_MS);
      await this.#retaining;
      await database.close();
      await this.#parts.debug.stderr.close();
      await this.#parts.onClosed?.();
      logger.info("closed");
    }
  }
}
