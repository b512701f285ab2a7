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

/** Loads and unloads the thread of a session, and records why it must be recovered. */
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

  /** The app-server that has the thread loaded, or had it last. */
  get server(): AppServer | undefined {
    return this.#loaded?.lease.server ?? this.#lastServer;
  }

  /** Whether the thread must be loaded even without a command, because events may be missing in the journal. */
  get needsRecovery(): boolean {
    return this.#recoverReason !== undefined;
  }

  requireRecovery(reason: string): void {
    this.#recoverReason = reason;
  }

  /** Stops requiring the recovery. The next successful load still compares the history with the journal. */
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

  /** Receives the end of a connection. Returns false if it is not the thread's connection. */
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
