import { AI_SDK_LIMITS } from "../limits.ts";
import type { Session } from "./session.ts";

export interface IdleSettings {
  /** Maximum number of idle threads. */
  readonly idleThreads?: number | undefined;
  /** How long an idle thread is kept. */
  readonly idleThreadMs?: number | undefined;
}

/** Releases idle threads, because each one costs memory in Codex and the processes of its MCP servers. */
export class IdleSessions {
  readonly #held: ReadonlyMap<string, Session>;
  readonly #release: (session: Session) => void;
  readonly #settings: IdleSettings;
  /** Released threads that Codex did not store, oldest first. */
  readonly #released = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** @param held All held sessions, least recently used first. */
  constructor(
    held: ReadonlyMap<string, Session>,
    release: (session: Session) => void,
    settings: IdleSettings,
  ) {
    this.#held = held;
    this.#release = release;
    this.#settings = settings;
  }

  hasReleased(threadId: string): boolean {
    return this.#released.has(threadId);
  }

  trim(): void {
    const idle = [...this.#held.values()].filter((session) => session.isIdle);
    const [withServers, plain] = [
      idle.filter(({ hasMcpServers }) => hasMcpServers),
      idle.filter(({ hasMcpServers }) => !hasMcpServers),
    ];
    const { idleThreads = AI_SDK_LIMITS.idleThreads, idleThreadMs } = this.#settings;
    const most = Math.min(idleThreads, this.#settings.idleThreads ?? AI_SDK_LIMITS.idleMcpThreads);
    const kept = [
      ...this.#keep(withServers, most, idleThreadMs ?? AI_SDK_LIMITS.idleMcpThreadMs),
      ...this.#keep(plain, idleThreads, idleThreadMs ?? AI_SDK_LIMITS.idleThreadMs),
    ];
    clearTimeout(this.#timer);
    if (kept.length === 0) return;
    this.#timer = setTimeout(() => this.trim(), Math.max(1, Math.ceil(Math.min(...kept)))).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Releases sessions beyond the limits. Returns the remaining milliseconds of each kept session. */
  #keep(idle: readonly Session[], most: number, forMs: number): number[] {
    const beyond = idle.length - most;
    return idle.flatMap((session, at) => {
      const left = forMs - session.idleMs;
      if (at >= beyond && left > 0) return [left];
      this.#forget(session);
      return [];
    });
  }

  #forget(session: Session): void {
    if (!session.isStored) this.#released.add(session.thread.id);
    const [oldest] = this.#released;
    if (this.#released.size > AI_SDK_LIMITS.releasedThreads && oldest !== undefined)
      this.#released.delete(oldest);
    this.#release(session);
  }
}
