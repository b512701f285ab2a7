import { CodexError, type LaunchOptions } from "codexkit";
import { KeyedSerialQueue } from "@codexkit/rpc/async";
import { randomUUID } from "node:crypto";
import type { AppServerGuard } from "../fleet/app-server-guard.ts";
import type { AppServerStore } from "../database/app-server-store.ts";
import { AppServer, type AppServerAddress, type AppServerDeps, type AppServerSummary } from "./app-server.ts";
import type { StderrLog } from "./stderr-log.ts";
import type { RunnerLimits } from "./limits.ts";

export interface CodexPoolOptions {
  readonly store: AppServerStore;
  /** The pool attaches to app-servers of earlier boots with this name. */
  readonly nodeName: string;
  readonly codexHome: string;
  readonly launch: LaunchOptions;
  readonly limits: RunnerLimits;
  readonly stderr?: StderrLog;
  /** Stops the app-servers while the node's lease may have expired. Default: they are never stopped. */
  readonly guard?: AppServerGuard;
  readonly onEvent: AppServerDeps["onEvent"];
  /** Called when a server has died. Its sessions must acquire another one. */
  readonly onEnd: (server: AppServer, error: CodexError) => void;
}

/** The right to use an app-server. A server with leases is not ended as idle. */
export interface AppServerLease extends Disposable {
  readonly server: AppServer;
}

const SHARED = "shared";

/** The app-servers of this daemon: a shared one, and one per dedicated session. */
export class CodexPool {
  readonly #options: CodexPoolOptions;
  readonly #deps: AppServerDeps;
  /** By session ID, or `SHARED`. */
  readonly #servers = new Map<string, AppServer>();
  /** Servers whose connection was lost and that may still be running, by the same key. */
  readonly #lost = new Map<string, AppServerAddress>();
  readonly #users = new Map<AppServer, number>();
  readonly #idle = new Map<AppServer, NodeJS.Timeout>();
  readonly #opening = new KeyedSerialQueue<string>();
  /** Pending launches and attachments. */
  readonly #opened = new Set<Promise<AppServer>>();
  readonly #closing = new AbortController();
  #restarts = 0;

  constructor(options: CodexPoolOptions) {
    this.#options = options;
    this.#deps = {
      limits: options.limits,
      isFrozen: () => options.guard?.isFrozen === true,
      onEvent: (server, event) => options.onEvent(server, event),
      onEnd: (server, error) => this.#ended(server, error),
    };
  }

  /** Number of servers that were launched to replace one that had died. */
  get restarts(): number {
    return this.#restarts;
  }

  get summaries(): readonly AppServerSummary[] {
    return [...this.#servers.values()].map((server) => ({
      id: server.id,
      pid: server.pid,
      sessionId: server.sessionId,
      state: server.hasEnded ? "ended" : server.isResponding ? "ready" : "not_responding",
      sessions: this.#users.get(server) ?? 0,
      attached: server.isAttached,
    }));
  }

  /** Attaches to servers of earlier boots that are still running. */
  async attach(): Promise<void> {
    const { store, nodeName, codexHome } = this.#options;
    for (const row of await store.list(nodeName)) {
      const key = row.session_id ?? SHARED;
      const server = await this.#tryAttach(row, codexHome);
      if (!server || this.#servers.has(key)) {
        await server?.close();
        await store.remove(row.id);
      } else {
        this.#add(key, server);
      }
    }
  }

  /**
   * Returns the server of a session: its own if it is `dedicated`, otherwise the shared one. Launches it if it is not
   * running.
   */
  async acquire({
    sessionId,
    dedicated,
  }: {
    sessionId: string;
    dedicated: boolean;
  }): Promise<AppServerLease> {
    const key = dedicated ? sessionId : SHARED;
    const opened = this.#opening.run(key, async () => this.#servers.get(key) ?? this.#open(key));
    this.#opened.add(opened);
    try {
      return this.#lease(await opened);
    } finally {
      this.#opened.delete(opened);
    }
  }

  /** Ends all servers, or leaves them running for their grace period. Later calls are rejected. */
  async close(how: "end" | "detach" = "end"): Promise<void> {
    this.#closing.abort(new CodexError("closed", "The daemon is closing."));
    for (const timer of this.#idle.values()) clearTimeout(timer);
    // Pending launches finish first, so that their processes are ended, too.
    await Promise.allSettled(this.#opened);
    const servers = [...this.#servers.values()];
    this.#servers.clear();
    const lost = how === "end" ? [...this.#lost.values()] : [];
    await Promise.allSettled([
      ...servers.map(async (server) => {
        if (how === "detach") return server.detach();
        await server.close();
        await this.#options.store.remove(server.id);
      }),
      ...lost.map(async (address) => {
        await AppServer.end(address);
        await this.#options.store.remove(address.id);
      }),
    ]);
  }

  async #tryAttach(
    row: Awaited<ReturnType<AppServerStore["list"]>>[number],
    codexHome: string,
  ): Promise<AppServer | undefined> {
    const { id, url, pid, session_id: sessionId } = row;
    const address = { id, url, pid, sessionId };
    if (row.codex_home === codexHome) {
      return AppServer.attach(address, this.#deps, this.#closing.signal).catch(() => undefined);
    }
    await AppServer.end(address);
    return undefined;
  }

  async #open(key: string): Promise<AppServer> {
    await this.#options.guard?.untilThawed(this.#closing.signal);
    const lost = this.#lost.get(key);
    this.#lost.delete(key);
    if (lost) {
      try {
        const server = await AppServer.attach(lost, this.#deps, this.#closing.signal);
        this.#add(key, server);
        return server;
      } catch {
        await this.#options.store.remove(lost.id);
        this.#restarts += 1;
      }
    }
    return this.#launch(key);
  }

  async #launch(key: string): Promise<AppServer> {
    const { store, nodeName, codexHome, launch, stderr } = this.#options;
    this.#closing.signal.throwIfAborted();
    const sessionId = key === SHARED ? null : key;
    const onStderr = (line: string): void => {
      launch.onStderr?.(line);
      stderr?.add(key, line);
    };
    const options = { ...launch, codexHome, onStderr, signal: this.#closing.signal };
    const id = randomUUID();
    const register = async ({ url, pid }: AppServerAddress): Promise<void> => {
      stderr?.add(key, `codexkit: started the process ${pid}`);
      await store.put({ id, node_name: nodeName, url, pid, codex_home: codexHome, session_id: sessionId });
    };
    let server: AppServer;
    try {
      server = await AppServer.launch({ id, sessionId, options, register }, this.#deps);
    } catch (error) {
      await store.remove(id).catch(() => {
        // Otherwise, the next boot notices that the server has exited.
      });
      throw error;
    }
    this.#add(key, server);
    return server;
  }

  #add(key: string, server: AppServer): void {
    // The server may have died in the meantime.
    if (server.hasEnded) return;
    this.#options.guard?.add(server.pid);
    this.#servers.set(key, server);
    this.#endWhenIdle(server);
  }

  #lease(server: AppServer): AppServerLease {
    this.#users.set(server, (this.#users.get(server) ?? 0) + 1);
    clearTimeout(this.#idle.get(server));
    this.#idle.delete(server);
    let isHeld = true;
    return {
      server,
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        const users = (this.#users.get(server) ?? 1) - 1;
        if (users > 0) {
          this.#users.set(server, users);
        } else {
          this.#users.delete(server);
          this.#endWhenIdle(server);
        }
      },
    };
  }

  #endWhenIdle(server: AppServer): void {
    if (server.hasEnded || this.#closing.signal.aborted) return;
    // No other session can use a dedicated server. The delay allows its own session to reuse it.
    const delay = this.#options.limits.appServerIdleMs;
    const timer = setTimeout(() => {
      this.#idle.delete(server);
      void this.end(server);
    }, delay);
    timer.unref();
    this.#idle.set(server, timer);
  }

  /** Ends one server, such as the one of a deleted session. */
  async end(server: AppServer): Promise<void> {
    clearTimeout(this.#idle.get(server));
    this.#idle.delete(server);
    this.#remove(server);
    // The process of a lost connection may still be running.
    await (server.hasEnded ? AppServer.end(server.address) : server.close());
    await this.#options.store.remove(server.id).catch(() => {
      // Otherwise, the next boot notices that the server has exited.
    });
  }

  #remove(server: AppServer): void {
    const key = server.sessionId ?? SHARED;
    if (this.#servers.get(key) === server) this.#servers.delete(key);
  }

  #ended(server: AppServer, error: CodexError): void {
    this.#options.stderr?.add(
      server.sessionId ?? SHARED,
      `codexkit: lost the process ${server.pid}: ${error.message}`,
    );
    clearTimeout(this.#idle.get(server));
    this.#idle.delete(server);
    this.#remove(server);
    this.#users.delete(server);
    if (error.code === "closed") return;
    this.#lost.set(server.sessionId ?? SHARED, server.address);
    this.#options.onEnd(server, error);
  }
}
