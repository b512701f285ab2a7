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
  /** The session that it serves alone, or null for the shared one. */
  readonly sessionId: string | null;
  readonly state: "ready" | "not_responding" | "ended";
  readonly sessions: number;
  /** Whether it was launched by an earlier boot of this daemon. */
  readonly attached: boolean;
}

/** How a server is found again. */
export interface AppServerAddress {
  readonly id: string;
  readonly url: string;
  readonly pid: number | null;
  /** The session that it serves alone, or null for the shared one. */
  readonly sessionId: string | null;
}

/** A frozen server of an earlier boot delays the start by this. */
const HANDSHAKE_MS = 15_000;

/** Pauses between attempts to connect to a running server, all within the time limit of a handshake. */
const RETRY = { firstMs: 50, longestMs: 1_000 } as const;

const END = {
  /** How long codex may take to end after SIGTERM: it waits for turns, which the daemon has interrupted before. */
  terminateMs: 1_000,
  /** How long the rest of its processes may take to end after codex. */
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
  /** Whether it is stopped on purpose, so that it can't answer. */
  readonly isFrozen: () => boolean;
  /** Receives every event in order. Reading from codex waits for the promise, if there is one, so it must not call codex. */
  readonly onEvent: (server: AppServer, event: CodexEvent) => Promise<void> | undefined;
  /** Called once, when the server has died or was ended. */
  readonly onEnd: (server: AppServer, error: CodexError) => void;
}

/**
 * A running app-server that outlives this program, with the one connection of the daemon to it. It ends for the daemon with
 * that connection: a later one is another `AppServer`.
 */
export class AppServer {
  readonly id: string;
  readonly codex: Codex;
  readonly pid: number | null;
  readonly url: string;
  /** The session that it serves alone, or null for the shared one. */
  readonly sessionId: string | null;
  /** Whether an earlier boot has launched it. */
  readonly isAttached: boolean;
  readonly #deps: AppServerDeps;
  readonly #checks: NodeJS.Timeout;
  /** Resolves when the last event was handled. */
  readonly drained: Promise<void>;
  /** Since when no health check was answered. */
  #silentSince: number | undefined;
  #isChecking = false;
  /** Whether the reader waits for the journal. Then responses are not read either. */
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

  /** @param register Stores the address. The server ends with this program if that ends before. */
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
    // The connection of the launch ends the server when it breaks. This one does not, so that the turns of a server that has
    // only lost its connection go on.
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
   * Rejects if the server is gone, and ends it if it does not respond. Tries again for a while, because ending it ends its turns.
   *
   * @param signal Ends the attempts.
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
        // Its keeper did not end by itself, so that the process ID may be that of another process by now.
        if (isRefused(error)) throw error;
        if (signal?.aborted || !isRunning(address.pid) || Date.now() + waitMs >= until) {
          await endServer(address);
          throw error;
        }
      }
      await delay(waitMs, undefined, { ...(signal && { signal }) }).catch(() => {});
    }
  }

  /** Ends a server without a connection to it, if it still runs. */
  static async end(address: AppServerAddress): Promise<void> {
    // The ID of a process that has ended may be that of another one by now.
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

  /** Ends codex at once, whatever it is doing. */
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
      // A frozen process accepts no other signal.
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
    // The next call would otherwise connect again, behind the back of the sessions.
    void this.codex.close();
  }
}

/** Folders are not checked here: those of an environment exist elsewhere. */
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

/** Its keeper sees the end of codex, ends the processes that codex has started, and removes the socket. */
async function endServer({ pid, url }: AppServerAddress): Promise<void> {
  const path = socketPath(url);
  kill(pid, "SIGTERM");
  if (await waitUntilGone(path, END.terminateMs)) return;
  kill(pid, "SIGKILL");
  await waitUntilGone(path, END.cleanMs);
}

async function waitUntilGone(path: string, limitMs: number): Promise<boolean> {
  for (const until = Date.now() + limitMs; existsSync(path); await delay(END.pollMs)) {
    if (Date.now() > until) return false;
  }
  return true;
}

/** Whether the keeper of a server runs. */
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

/** Whether a socket has no listener: its keeper was killed, or the machine lost its power. */
function isRefused(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && cause.code === "ECONNREFUSED") return true;
  }
  return false;
}

function socketPath(url: string): string {
  return url.replace(/^unix:\/\//, "");
}

/** True if the process is unknown. */
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
    // It is gone.
  }
}
