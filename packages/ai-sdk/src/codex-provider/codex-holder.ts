import type { Codex, CodexOptions } from "codexkit";
import { setMaxListeners } from "node:events";
import { CodexModelError } from "../errors.ts";
import { limits } from "../limits.ts";
import { orAborted } from "../or-aborted.ts";
import type { Sessions, SessionsSettings } from "../session/sessions.ts";
import { ChildHold } from "./child-hold.ts";
import type { CodexSettings } from "./settings.ts";
import { toCallError } from "./to-call-error.ts";

/** A codex with work to do, until it is released. */
export interface Lease {
  readonly codex: Codex;
  readonly sessions: Sessions;
  /** The work is done, or waits for this program: it may end now, though the codex is still needed. */
  rest(): void;
  release(): void;
}

interface Held {
  readonly codex: Codex;
  readonly sessions: Sessions;
}

/** The one codex of a provider: launched or reached at the first call, shared by all, ended when nobody has used it for long. */
export class CodexHolder {
  readonly #settings: CodexSettings;
  readonly #child = new ChildHold();
  #held: Promise<Held> | undefined;
  #leases = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #abort = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(settings: CodexSettings) {
    this.#settings = settings;
    // Every call that runs listens.
    setMaxListeners(0, this.#abort.signal);
  }

  /** Fires when the provider is closed, with the error that its calls reject with. */
  get closing(): AbortSignal {
    return this.#abort.signal;
  }

  /** Launches or reaches Codex ahead of a lease that is about to be taken. */
  open(): void {
    if (!this.closing.aborted) this.#held ??= this.#open();
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
      const held = await orAborted(this.#held, signal);
      return { ...held, rest, release };
    } catch (error) {
      release();
      throw await toCallError(error);
    }
  }

  /** Ends every turn, and the codex unless it is the caller's own; a server that was connected to keeps turns that wait. */
  async close(): Promise<void> {
    this.#abort.abort(new CodexModelError("closed", "The provider was closed; make another one."));
    clearTimeout(this.#idle);
    await Promise.all([this.#closing, this.#shutDown()]);
  }

  #open(): Promise<Held> {
    const opening = this.#openCodex();
    // One that could not be opened is tried again by the next call.
    opening.catch(() => {
      if (this.#held === opening) this.#held = undefined;
    });
    return opening;
  }

  async #openCodex(): Promise<Held> {
    // The one before may still have its threads: another process gets them only when it is gone.
    await this.#closing;
    // The rest of the provider is loaded while Codex starts.
    const [codex, { Sessions }] = await Promise.all([this.#reach(), import("../session/sessions.ts")]);
    return { codex, sessions: new Sessions(codex, sessionsSettings(this.#settings)) };
  }

  async #reach(): Promise<Codex> {
    const { codex, connect, launch, transport, logger } = this.#settings;
    if (codex) return codex;
    const { Codex } = await import("codexkit");
    const log = packetLog(this.#settings);
    if (transport) {
      const { open, ...options } = transport;
      return Codex.over(open, { ...log, ...options });
    }
    if (connect) {
      const { url, ...options } = connect;
      return Codex.connect(url, { ...log, ...options });
    }
    return Codex.launch({
      ...log,
      ...(logger?.debug && { onStderr: (line: string) => logger.debug?.(line) }),
      ...launch,
      onSpawn: (child) => {
        this.#child.adopt(child);
        launch?.onSpawn?.(child);
      },
    });
  }

  #release(): void {
    this.#leases -= 1;
    if (this.#leases > 0) return;
    const { connect, idleShutdownMs = connect ? limits.idleDisconnectMs : limits.idleShutdownMs } =
      this.#settings;
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
    await held.sessions.close({ leaves: this.#settings.connect !== undefined });
    if (held.codex !== this.#settings.codex) await held.codex.close();
  }
}

function sessionsSettings(settings: CodexSettings): SessionsSettings {
  const { idleThreads, idleThreadMs, readyThreads = limits.readyThreads } = settings;
  // A thread that was started ahead is used only if the files that it read are unchanged, which needs to be seen from here.
  return { idleThreads, idleThreadMs, readyThreads: sharesFiles(settings) ? readyThreads : 0 };
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
