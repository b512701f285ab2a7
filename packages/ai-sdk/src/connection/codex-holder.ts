import type { Codex, CodexOptions } from "codexkit";
import { setMaxListeners } from "node:events";
import { CodexModelError } from "../errors.ts";
import { AI_SDK_LIMITS } from "../limits.ts";
import { raceAbort } from "@codexkit/rpc/async";
import type { Sessions, SessionsSettings } from "../session/sessions.ts";
import { ChildRefs } from "./child-refs.ts";
import type { CodexSettings } from "../options/settings.ts";

/** Prevents the codex from being shut down until released. */
export interface Lease {
  readonly codex: Codex;
  readonly sessions: Sessions;
  /** Lets the program exit although the lease is held, because the work is done or waits for this program. */
  rest(): void;
  release(): void;
}

interface Held {
  readonly codex: Codex;
  readonly sessions: Sessions;
}

/** A provider's codex. Launched or connected at the first call, shared by all calls, and shut down after an idle period. */
export class CodexHolder {
  readonly #settings: CodexSettings;
  readonly #child = new ChildRefs();
  #held: Promise<Held> | undefined;
  #begun: Promise<void> = Promise.resolve();
  #leases = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #abort = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(settings: CodexSettings) {
    this.#settings = settings;
    // Every running call adds a listener.
    setMaxListeners(0, this.#abort.signal);
  }

  /** Aborts when the provider is closed. The reason is the error that calls reject with. */
  get closing(): AbortSignal {
    return this.#abort.signal;
  }

  /** Starts to launch or connect ahead of `lease`. Resolves once the process or the connection is starting. */
  async open(): Promise<void> {
    if (this.closing.aborted) return;
    this.#held ??= this.#open();
    await this.#begun;
  }

  async lease(signal?: AbortSignal): Promise<Lease> {
    this.closing.throwIfAborted();
    clearTimeout(this.#idle);
    this.#leases += 1;
    this.#child.take();
    const rest = once(() => this.#child.release());
    const release = once(() => {
      rest();
      this.#release();
    });
    try {
      this.#held ??= this.#open();
      const held = await raceAbort(this.#held, signal);
      return { ...held, rest, release };
    } catch (error) {
      release();
      throw await toCallError(error);
    }
  }

  /** Ends all turns, and the codex unless the caller supplied it. Waiting turns are left on a server reached by `connect`. */
  async close(): Promise<void> {
    this.#abort.abort(new CodexModelError("closed", "The provider was closed. Create another one."));
    clearTimeout(this.#idle);
    await Promise.all([this.#closing, this.#shutDown()]);
  }

  #open(): Promise<Held> {
    const opening = this.#openCodex();
    // After a failure, the next call tries again.
    opening.catch(() => {
      if (this.#held === opening) this.#held = undefined;
    });
    return opening;
  }

  async #openCodex(): Promise<Held> {
    // Wait for the previous codex to exit: until then, no other process can load the threads that it holds.
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#begun = promise;
    try {
      await this.#closing;
      const codex = await this.#reach(resolve);
      const { Sessions } = await import("../session/sessions.ts");
      return { codex, sessions: new Sessions(codex, sessionsSettings(this.#settings)) };
    } finally {
      resolve();
    }
  }

  /** @param onBegun Called once the process or the connection is starting, which leaves time to load other modules. */
  async #reach(onBegun: () => void): Promise<Codex> {
    const { codex, connect, launch, transport, logger } = this.#settings;
    if (codex) return codex;
    const packets = packetLog(this.#settings);
    if (transport ?? connect) {
      const { Codex } = await import("codexkit");
      onBegun();
      if (transport) {
        const { open, ...options } = transport;
        return Codex.withTransport(open, { ...packets, ...options });
      }
      if (connect) {
        const { url, ...options } = connect;
        return Codex.connect(url, { ...packets, ...options });
      }
    }
    const { launchCodex } = await import("codexkit/launch");
    return launchCodex({
      ...packets,
      ...(logger?.debug && { onStderr: (line: string) => log(() => logger.debug?.(line)) }),
      ...launch,
      onSpawn: (child) => {
        onBegun();
        this.#child.adopt(child);
        launch?.onSpawn?.(child);
      },
    });
  }

  #release(): void {
    this.#leases -= 1;
    if (this.#leases > 0) return;
    const {
      connect,
      idleShutdownMs = connect ? AI_SDK_LIMITS.idleDisconnectMs : AI_SDK_LIMITS.idleShutdownMs,
    } = this.#settings;
    if (idleShutdownMs === false || this.closing.aborted) return;
    this.#idle = setTimeout(() => {
      this.#closing = this.#shutDown().catch(() => {});
    }, idleShutdownMs).unref();
  }

  async #shutDown(): Promise<void> {
    const opening = this.#held;
    this.#held = undefined;
    const held = await opening?.catch(() => undefined);
    if (held === undefined) return;
    const { codex, connect, transport } = this.#settings;
    if (codex ?? connect ?? transport) {
      await held.sessions.close({ leaves: connect !== undefined });
      if (held.codex !== codex) await held.codex.close();
    } else {
      // Threads and turns end with the process, so there is no need to release them one by one.
      await held.sessions.end(() => held.codex.close());
    }
  }
}

function sessionsSettings(settings: CodexSettings): SessionsSettings {
  const { idleThreads, idleThreadMs, prestartedThreads = AI_SDK_LIMITS.prestartedThreads } = settings;
  // A prestarted thread is used only if the files that it read are unchanged, so this process must see the same files.
  return { idleThreads, idleThreadMs, prestartedThreads: sharesFiles(settings) ? prestartedThreads : 0 };
}

function sharesFiles({ connect, transport }: CodexSettings): boolean {
  if (transport) return transport.local ?? false;
  return connect === undefined || (connect.local ?? String(connect.url).startsWith("unix:"));
}

function packetLog({ onPacket }: CodexSettings): Pick<CodexOptions, "onPacket"> {
  return onPacket === undefined ? {} : { onPacket };
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}

/** Calls a logger. A logger that throws or rejects does not fail the call. */
export function log(write: () => unknown): void {
  // Node 22 has no `Promise.try`.
  (async () => write())().catch(() => {});
}

/** Converts an error for callers of the provider. The conversion code is loaded when the first call fails. */
export async function toCallError(error: unknown): Promise<unknown> {
  const { toModelError } = await import("../stream/turn-error.ts");
  return toModelError(error);
}
