import { Codex } from "codexkit";
import type { ApprovalSettings } from "../approval/approval-handlers.ts";
import { CodexModelError } from "../errors.ts";
import { limits } from "../limits.ts";
import { orAborted } from "../or-aborted.ts";
import { Sessions } from "../session/sessions.ts";
import { toModelError } from "../stream/turn-error.ts";
import { ChildHold } from "./child-hold.ts";
import type { CodexSettings } from "./settings.ts";

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
  readonly #approvals: ApprovalSettings;
  readonly #child = new ChildHold();
  #held: Promise<Held> | undefined;
  #leases = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(settings: CodexSettings, approvals: ApprovalSettings) {
    this.#settings = settings;
    this.#approvals = approvals;
  }

  async lease(signal?: AbortSignal): Promise<Lease> {
    if (this.#isClosed) throw new CodexModelError("closed", "The provider was closed; make another one.");
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
      throw toModelError(error);
    }
  }

  /** Ends every turn, and the codex unless it is the caller's own; a server that was connected to keeps turns that wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
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
    const codex = await this.#reach();
    return { codex, sessions: new Sessions(codex, this.#approvals) };
  }

  async #reach(): Promise<Codex> {
    const { codex, connect, launch } = this.#settings;
    if (codex) return codex;
    if (connect) {
      const { url, ...options } = connect;
      return Codex.connect(url, options);
    }
    return Codex.launch({
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
    if (idleShutdownMs === false || this.#isClosed) return;
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

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
