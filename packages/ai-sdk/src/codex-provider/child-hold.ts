import type { ChildProcess } from "node:child_process";

interface Refable {
  ref?(): unknown;
  unref?(): unknown;
}

/** Lets a child keep the program alive while it has work, and only then: a script that is done must end by itself. */
export class ChildHold {
  #handles: readonly Refable[] = [];
  #isTaken = false;

  adopt(child: ChildProcess): void {
    // A pipe is a socket, whatever its type says.
    this.#handles = [child, child.stdin, child.stdout, child.stderr].filter(
      (handle) => handle !== null,
    ) as Refable[];
    this.#apply();
  }

  take(): void {
    this.#isTaken = true;
    this.#apply();
  }

  release(): void {
    this.#isTaken = false;
    this.#apply();
  }

  #apply(): void {
    for (const handle of this.#handles) {
      if (this.#isTaken) handle.ref?.();
      else handle.unref?.();
    }
  }
}
