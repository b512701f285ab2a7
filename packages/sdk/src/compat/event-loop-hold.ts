import type { ChildProcess } from "node:child_process";

interface Refable {
  ref?(): unknown;
  unref?(): unknown;
}

/** Keeps the event loop alive for a child process only while it is in use. */
export class EventLoopHold {
  readonly #handles: readonly Refable[];
  readonly #releaseListeners = new Set<() => void>();
  #uses = 0;

  constructor(child: ChildProcess | undefined) {
    // A pipe is a socket with `ref` and `unref`, despite its type.
    const { stdin, stdout, stderr } = child ?? {};
    this.#handles = [child, stdin, stdout, stderr].filter((handle) => !!handle) as Refable[];
  }

  get isIdle(): boolean {
    return this.#uses === 0;
  }

  /** Calls the listener whenever the child process becomes idle. */
  onIdle(listener: () => void): void {
    this.#releaseListeners.add(listener);
  }

  /** Resolves when the child process is idle. */
  async waitUntilIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.onIdle(resolve));
  }

  /** Marks the child process as in use. Returns a function that releases it. */
  acquire(): () => void {
    this.#uses += 1;
    if (this.#uses === 1) for (const handle of this.#handles) handle.ref?.();
    let isHeld = true;
    return () => {
      if (isHeld) this.#release();
      isHeld = false;
    };
  }

  #release(): void {
    this.#uses -= 1;
    if (this.#uses > 0) return;
    for (const handle of this.#handles) handle.unref?.();
    for (const listener of this.#releaseListeners) listener();
  }
}
