import { Codex, type CodexError, type CodexEvent, type ConnectOptions, type LaunchOptions } from "codexkit";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createConnection } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { RunnerLimits } from "./limits.ts";

/** A running app-server, for diagnostics. */
export interface AppServerSummary {
  readonly id: string;
  readonly pid: number | null;
  /** ID of the session that uses it exclusively. Null for the shared server. */
  readonly sessionId: string | null;
  readonly state: "ready" | "not_responding" | "ended";
  readonly sessions: number;
  /** Whether it was launched by an earlier boot of this daemon. */
  readonly attached: boolean;
}

/** An exec-server that is registered with an app-server. */
export interface RegisteredEnvironment {
  readonly id: string;
  /** When its token should be replaced, in milliseconds since the epoch. Undefined if the token does not expire. */
  readonly renewAt: number | undefined;
}

/** Address with which a later boot attaches to a server. */
export interface AppServerAddress {
  readonly id: string;
  readonly url: string;
  readonly pid: number | null;
  /** ID of the session that uses it exclusively. Null for the shared server. */
  readonly sessionId: string | null;
}

/** A frozen server of an earlier boot delays the start of the daemon by this time. */
const HANDSHAKE_MS = 15_000;

/** Delays between attempts to connect to a running server, within the timeout of a handshake. */
const RETRY = { firstMs: 50, longestMs: 1_000 } as const;

const END = {
  /** How long Codex may take to exit after SIGTERM. It waits for turns, which the daemon interrupts beforehand. */
  terminateMs: 1_000,
  /** How long its other processes may take to exit after Codex. */
  cleanMs: 8_000,
  pollMs: 20,
} as const;

/** Options of `Codex.launch` that the program that creates the daemon may set. */
export type DaemonCodexOptions = Pick<
  LaunchOptions,
  | "codexPath"
  | "wrapperArgs"
  | "env"
  | "inheritEnv"
  | "config"
  | "configOverrides"
  | "enable"
  | "disable"
  | "onStderr"
>;

export interface AppServerDeps {
  readonly limits: RunnerLimits;
  /** Whether the process is deliberately stopped and can't respond. */
  readonly isFrozen: () => boolean;
  /**
   * Receives every event in order. If it returns a promise, no further messages are read from Codex until the promise
   * settles, so it must not call Codex.
   */
  readonly onEvent: (server: AppServer, event: CodexEvent) => Promise<void> | undefined;
  /** Called once when the server has died or was ended. */
  readonly onEnd: (server: AppServer, error: CodexError) => void;
}

/**
 * A running app-server that outlives this process, and the daemon's connection to it. The object ends with the
 * connection: a new connection to the same server is another `AppServer`.
 */
export class AppServer {
  readonly id: string;
  readonly codex: Codex;
  readonly pid: number | null;
  readonly url: string;
  /** ID of the session that uses it exclusively. Null for the shared server. */
  readonly sessionId: string | null;
  /** Whether an earlier boot launched it. */
  readonly isAttached: boolean;
  /** Exec-servers that were registered on this connection, by session. */
  readonly environments = new Map<string, RegisteredEnvironment>();
  readonly #deps: AppServerDeps;
  readonly #checks: NodeJS.Timeout;
  /** Resolves after the last event has been handled. */
  readonly drained: Promise<void>;
  /** Time since which no health check has succeeded. */
  #silentSince: number | undefined;
  #isChecking = false;
  /** Whether reading is paused until the journal has stored an event. Responses are not read either in this state. */
  #isReaderBusy = false;
  #end: CodexError | undefined;

  private constructor(
    address: AppServerAddress,
    codex: Codex,
    { isAttached, ...deps }: AppServerDeps & { isAttached: boolean },
  ) {
    this.id = address.id;
    this.pid = address.pid;
    this.url = address.url;
    this.sessionId = address.sessionId;
    this.codex = codex;
    this.isAttached = isAttached;
    this.#deps = deps;
    codex.onDisconnect((error) => this.#ended(error));
    this.drained = this.#read();
    this.#checks = setInterval(() => void this.#check(), deps.limits.healthCheckMs);
    this.#checks.unref();
  }

  /** @param register Stores the address. If this process ends before that, the server ends with it. */
  static async launch(
    {
      id,
      sessionId,
      options,
      register,
    }: {
      id: string;
      sessionId: string | null;
      options: LaunchOptions;
      register: (address: AppServerAddress) => Promise<void>;
    },
    deps: AppServerDeps,
  ): Promise<AppServer> {
    const launcher = await Codex.launch({
      ...options,
      ...clientOptions(deps.limits),
      outliveOwner: {
        graceMs: deps.limits.appServerGraceMs,
        register: (address) => register({ id, sessionId, ...address }),
      },
    });
    const { pid = null, url = "" } = launcher;
    // The connection of the launch ends the server when it breaks. This second connection doesn't, so turns survive a
    // lost connection.
    try {
      const codex = await connect(url, deps.limits);
      const server = new AppServer({ id, url, pid, sessionId }, codex, { ...deps, isAttached: false });
      await launcher.detach();
      return server;
    } catch (error) {
      await launcher.close();
      throw error;
    }
  }

  /**
   * Rejects if the server has exited, and ends it if it does not respond. Retries for a limited time, because ending
   * the server ends its turns.
   *
   * @param signal Stops the attempts.
   */
  static async attach(
    address: AppServerAddress,
    deps: AppServerDeps,
    signal?: AbortSignal,
  ): Promise<AppServer> {
    const until = Date.now() + handshakeMs(deps.limits);
    for (let waitMs: number = RETRY.firstMs; ; waitMs = Math.min(waitMs * 2, RETRY.longestMs)) {
      if (!existsSync(socketPath(address.url))) throw new Error("The app-server has ended.");
      try {
        const codex = await connect(address.url, deps.limits);
        return new AppServer(address, codex, { ...deps, isAttached: true });
      } catch (error) {
        // The keeper did not exit by itself, so another process may have the process ID by now.
        if (isRefused(error)) throw error;
        if (signal?.aborted || !isRunning(address.pid) || Date.now() + waitMs >= until) {
          await endServer(address);
          throw error;
        }
      }
      await delay(waitMs, undefined, { ...(signal && { signal }) }).catch(() => {});
    }
  }

  /** Ends a server without a connection to it, if it is still running. */
  static async end(address: AppServerAddress): Promise<void> {
    // After a process has exited, another process may have its ID.
    if (await hasListener(address.url)) await endServer(address);
  }

  get address(): AppServerAddress {
    const { id, url, pid, sessionId } = this;
    return { id, url, pid, sessionId };
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  get isResponding(): boolean {
    return this.#silentSince === undefined;
  }

  /** Ends the server and all its processes. */
  async close(): Promise<void> {
    await Promise.all([this.codex.close(), endServer(this.address)]);
    await this.drained;
  }

  /** Ends Codex immediately. */
  kill(): void {
    kill(this.pid, "SIGKILL");
  }

  /** Leaves the server running for its grace period. */
  async detach(): Promise<void> {
    await this.codex.detach();
    await this.drained;
  }

  async #read(): Promise<void> {
    for await (const event of this.codex.events({ lossless: true })) {
      const handled = this.#deps.onEvent(this, event);
      if (!handled) continue;
      this.#isReaderBusy = true;
      await handled;
      this.#isReaderBusy = false;
    }
  }

  async #check(): Promise<void> {
    if (this.#deps.isFrozen()) this.#silentSince = undefined;
    if (this.#isChecking || this.#isReaderBusy || this.#end || this.#deps.isFrozen()) return;
    this.#isChecking = true;
    const sentAt = Date.now();
    const { healthCheckMs, notRespondingMs } = this.#deps.limits;
    try {
      await this.codex.request("thread/loaded/list", {}, { timeoutMs: healthCheckMs });
      this.#silentSince = undefined;
    } catch {
      if (this.#isReaderBusy || this.hasEnded || this.#deps.isFrozen()) return;
      this.#silentSince ??= sentAt;
      // A stopped process handles no other signal than SIGKILL.
      if (Date.now() - this.#silentSince >= notRespondingMs) kill(this.pid, "SIGKILL");
    } finally {
      this.#isChecking = false;
    }
  }

  #ended(error: CodexError): void {
    if (this.#end) return;
    this.#end = error;
    clearInterval(this.#checks);
    this.#deps.onEnd(this, error);
    // Otherwise, the next call would open a new connection that the sessions don't know about.
    void this.codex.close();
  }
}

/** Folders are not checked here, because those of an environment exist on another machine. */
function connect(url: string, limits: RunnerLimits): Promise<Codex> {
  return Codex.connect(url, { ...clientOptions(limits), local: false });
}

function clientOptions({
  callMs,
}: RunnerLimits): Pick<ConnectOptions, "clientInfo" | "limits" | "handshakeTimeoutMs"> {
  return {
    clientInfo: { name: "codexkit-daemon", version: "0.1.0" },
    limits: { callTimeoutMs: callMs },
    handshakeTimeoutMs: handshakeMs({ callMs }),
  };
}

function handshakeMs({ callMs }: Pick<RunnerLimits, "callMs">): number {
  return Math.min(callMs, HANDSHAKE_MS);
}

/** The keeper notices the end of Codex, ends the processes that Codex has started, and removes the socket. */
async function endServer({ pid, url }: AppServerAddress): Promise<void> {
  const path = socketPath(url);
  kill(pid, "SIGTERM");
  if (await waitForRemoval(path, END.terminateMs)) return;
  kill(pid, "SIGKILL");
  await waitForRemoval(path, END.cleanMs);
}

async function waitForRemoval(path: string, limitMs: number): Promise<boolean> {
  for (const until = Date.now() + limitMs; existsSync(path); await delay(END.pollMs)) {
    if (Date.now() > until) return false;
  }
  return true;
}

/** Whether the keeper of a server is running. */
async function hasListener(url: string): Promise<boolean> {
  const socket = createConnection(socketPath(url));
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Whether a socket has no listener, because its keeper was killed or the machine lost power. */
function isRefused(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && cause.code === "ECONNREFUSED") return true;
  }
  return false;
}

function socketPath(url: string): string {
  return url.replace(/^unix:\/\//, "");
}

/** Returns true if the process ID is unknown. */
function isRunning(pid: number | null): boolean {
  if (pid === null) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function kill(pid: number | null, signal: NodeJS.Signals): void {
  if (pid === null) return;
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited.
  }
}
