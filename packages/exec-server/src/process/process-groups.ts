import { descendantsOf } from "./descendants.ts";

/** The process groups of one session. Signals them and kills them all at the end. */
export class ProcessGroups {
  readonly #groups = new Set<number>();
  /** Groups whose child has exited but that still have a running descendant. */
  readonly #lingering = new Set<number>();

  add(group: number): void {
    this.#groups.add(group);
    for (const other of this.#lingering) this.#forgetIfEmpty(other);
  }

  signal(group: number, signal: NodeJS.Signals | 0): boolean {
    try {
      process.kill(-group, signal);
      return true;
    } catch {
      return false; // The group is empty.
    }
  }

  /** Kills a group, and descendants that have left it with `setsid`. */
  kill(group: number): void {
    // Looked up first, because their parent changes to init once their parents are dead.
    const descendants = descendantsOf(group);
    this.signal(group, "SIGKILL");
    for (const pid of descendants) killProcess(pid);
  }

  /**
   * Called when the child has exited. The kernel does not reuse the group's id while a descendant is running. An empty group
   * is removed immediately, because its id may be reused for an unrelated process.
   */
  leaderEnded(group: number): void {
    this.#lingering.add(group);
    this.#forgetIfEmpty(group);
  }

  killAll(): void {
    for (const group of this.#groups) this.kill(group);
    this.#groups.clear();
    this.#lingering.clear();
  }

  #forgetIfEmpty(group: number): void {
    if (this.signal(group, 0)) return;
    this.#lingering.delete(group);
    this.#groups.delete(group);
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It was killed together with the group.
  }
}
