import type { ChildProcess } from "node:child_process";

interface Refable {
  ref?(): unknown;
  unref?(): unknown;
}

/** Lets a child keep the program alive only while the child has work, so that a finished script exits on its own. */
export class ChildRefs {
  #handles: readonly Refable[] = [];
  #holders = 0;

  adopt(child: ChildProcess): void {
    // Pipes are sockets at run time, despite their types.
    this.#handles = [child, child.stdin, child.stdout, child.stderr].filter(
      (handle) => handle !== null,
    ) as Refable[];
    this.#apply();
  }

  take(): void {
    this.#holders += 1;
    this.#apply();
  }

  release(): void {
    this.#holders -= 1;
    this.#apply();
  }

  #apply(): void {
    for (const handle of this.#handles) {
      if (this.#holders > 0) handle.ref?.();
      else handle.unref?.();
    }
  }
}
