import { CodexError } from "codexkit";
import type { AppServer } from "../codex/app-server.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import type { ThreadLoader } from "./thread-loader.ts";

export interface SessionThreadDeps {
  readonly loader: ThreadLoader;
  readonly beforeLoad: () => Promise<void>;
  /** Records why the thread could not be loaded. Never rejects. */
  readonly onFailure: (error: unknown) => Promise<void>;
}

/** The thread of a session while it is loaded, and why it has to be. */
export class SessionThread {
  readonly #deps: SessionThreadDeps;
  #loaded: LoadedThread | undefined;
  /** The server of a connection that was lost. */
  #lastServer: AppServer | undefined;
  #recoverReason: string | undefined;

  constructor(deps: SessionThreadDeps) {
    this.#deps = deps;
  }

  get loaded(): LoadedThread | undefined {
    return this.#loaded;
  }

  /** The app-server that has the thread, or had it last. */
  get server(): AppServer | undefined {
    return this.#loaded?.lease.server ?? this.#lastServer;
  }

  /** Whether it must be loaded without a command, because the journal may have a hole. */
  get needsRecovery(): boolean {
    return this.#recoverReason !== undefined;
  }

  requireRecovery(reason: string): void {
    this.#recoverReason = reason;
  }

  /** The next load that succeeds compares the history with the journal all the same. */
  giveUpRecovery(): void {
    this.#recoverReason = undefined;
  }

  async load(): Promise<LoadedThread> {
    if (this.#loaded) return this.#loaded;
    try {
      await this.#deps.beforeLoad();
      this.#loaded = await this.#deps.loader.load(this.#lastServer, this.#recoverReason);
      this.#recoverReason = undefined;
    } catch (error) {
      await this.#deps.onFailure(error);
      throw error;
    }
    return this.#loaded;
  }

  /** Stops using the thread. Codex unloads it later. */
  async unload(): Promise<void> {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    await loaded?.thread.close();
    loaded?.lease[Symbol.dispose]();
  }

  /** Takes the end of a connection. False if it is not that of the thread. */
  disconnect(server: AppServer): boolean {
    if (this.#loaded?.lease.server !== server) return false;
    this.#loaded.lease[Symbol.dispose]();
    this.#loaded = undefined;
    this.#lastServer = server;
    return true;
  }
}

/** The error of a connection that ended while the thread was being loaded. */
export function serverEndedError(): CodexError {
  return new CodexError("connection_lost", "The app-server ended.");
}
