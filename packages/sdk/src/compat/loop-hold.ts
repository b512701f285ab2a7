import type { ChildProcess } from "node:child_process";

interface Refable {
  ref?(): unknown;
  unref?(): unknown;
}

/** Keeps the program alive for a child while somebody needs it, and only then. */
export class LoopHold {
  readonly #handles: readonly Refable[];
  readonly #onFree = new Set<() => void>();
  #holders = 0;

  constructor(child: ChildProcess | undefined) {
    // A pipe is a socket, whatever its type says.
    const { stdin, stdout, stderr } = child ?? {};
    this.#handles = [child, stdin, stdout, stderr].filter((handle) => !!handle) as Refable[];
  }

  get isFree(): boolean {
    return this.#holders === 0;
  }

  /** Called whenever the last holder let go. */
  onFree(listener: () => void): void {
    this.#onFree.add(listener);
  }

  /** Until nobody holds it. */
  async free(): Promise<void> {
    if (!this.isFree) await new Promise<void>((resolve) => this.onFree(resolve));
  }

  /** Holds it until the function that this gives is called. */
  take(): () => void {
    this.#holders += 1;
    if (this.#holders === 1) for (const handle of this.#handles) handle.ref?.();
    let taken = true;
    return () => {
      if (taken) this.#letGo();
      taken = false;
    };
  }

  #letGo(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    for (const handle of this.#handles) handle.unref?.();
    for (const listener of this.#onFree) listener();
  }
}
