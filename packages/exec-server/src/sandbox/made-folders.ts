import { rmdirSync } from "node:fs";

/**
 * Folders that exist only because a sandbox needed something to mount on. Counted: the last sandbox to use one removes it.
 * Removed earlier, the protection of another sandbox would vanish with its mount point.
 */
export class MadeFolders {
  readonly #uses = new Map<string, number>();

  /** Which of these protected folders are there only because of us. */
  isOurs(path: string): boolean {
    return this.#uses.has(path);
  }

  use(paths: readonly string[]): Disposable {
    for (const path of paths) this.#uses.set(path, (this.#uses.get(path) ?? 0) + 1);
    let used = true;
    return {
      [Symbol.dispose]: () => {
        if (used) for (const path of paths) this.#release(path);
        used = false;
      },
    };
  }

  #release(path: string): void {
    const left = (this.#uses.get(path) ?? 1) - 1;
    if (left > 0) {
      this.#uses.set(path, left);
      return;
    }
    this.#uses.delete(path);
    try {
      // At once: the next sandbox looks at what is there. Only when empty: whatever else is in it is not ours.
      rmdirSync(path);
    } catch {
      // It was never made, or someone put something into it.
    }
  }
}
