import { EXEC_LIMITS, type ServerLimits } from "../limits.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import type { SandboxedFiles } from "./sandboxed-files.ts";

interface PooledHelper {
  readonly files: SandboxedFiles;
  /** Undefined for a helper that serves only one request. */
  readonly identity: string | undefined;
  /** Unfinished requests that use this helper. */
  leases: number;
  idle: NodeJS.Timeout | undefined;
}

/** Up to this number, idle helpers are kept for the full time. */
const KEPT_FOR_LONG = 4;

export type HelperLimits = Pick<
  ServerLimits,
  "sandboxHelpers" | "sandboxHelperIdleTimeoutMs" | "busySandboxHelpers" | "sandboxHelperWaitTimeoutMs"
>;

/** A helper for the duration of one request. */
export interface HelperLease extends Disposable {
  readonly files: SandboxedFiles;
}

/**
 * Helpers by the identity of everything that their sandbox depends on. A helper that is serving a request or
 * has an open file is never stopped. Of the others, the least recently used is stopped first.
 */
export class HelperPool implements AsyncDisposable {
  readonly #limits: HelperLimits;
  /** In the order of their last use. */
  readonly #helpers = new Set<PooledHelper>();
  readonly #waiting = new Set<() => void>();
  readonly #stopping = new Set<Promise<void>>();
  #starting = 0;
  #isDisposed = false;

  constructor(limits: HelperLimits) {
    this.#limits = limits;
  }

  async lease(
    identity: string | undefined,
    start: (onIdle: () => void) => SandboxedFiles,
  ): Promise<HelperLease> {
    const found = identity === undefined ? undefined : this.#find(identity);
    if (found) return this.#acquire(found);
    const deadline = performance.now() + this.#limits.sandboxHelperWaitTimeoutMs;
    while (!this.#canStart()) await this.#waitForRelease(deadline);
    // Above the limit, the oldest idle helper is stopped. If all of them are busy, one more is started.
    if (this.#helpers.size >= this.#limits.sandboxHelpers) this.#stopOldest();
    // Another request may have started the same helper meanwhile.
    const started = identity === undefined ? undefined : this.#find(identity);
    if (started) return this.#acquire(started);
    const helper: PooledHelper = {
      files: start(() => this.#settle(helper)),
      identity,
      leases: 0,
      idle: undefined,
    };
    this.#helpers.add(helper);
    this.#countStart(helper.files);
    return this.#acquire(helper);
  }

  #canStart(): boolean {
    if (this.#isDisposed) throw new Refusal(CODES.internal, "The server is closing.");
    if (this.#starting >= EXEC_LIMITS.startingSandboxHelpers) return false;
    return this.#helpers.size < this.#limits.busySandboxHelpers || this.#stopOldest();
  }

  #countStart({ started }: SandboxedFiles): void {
    this.#starting += 1;
    void started.then(() => {
      this.#starting -= 1;
      for (const wake of this.#waiting) wake();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (const helper of this.#helpers) this.#stop(helper);
    await Promise.all(this.#stopping);
  }

  #find(identity: string): PooledHelper | undefined {
    return [...this.#helpers].find((helper) => helper.identity === identity && !helper.files.hasExited);
  }

  #acquire(helper: PooledHelper): HelperLease {
    helper.leases += 1;
    clearTimeout(helper.idle);
    this.#helpers.delete(helper);
    this.#helpers.add(helper);
    let isHeld = true;
    return {
      files: helper.files,
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        helper.leases -= 1;
        this.#settle(helper);
      },
    };
  }

  #settle(helper: PooledHelper): void {
    if (!this.#helpers.has(helper) || isInUse(helper)) return;
    if (helper.identity === undefined || helper.files.hasExited) {
      this.#stop(helper);
      return;
    }
    clearTimeout(helper.idle);
    // The more idle helpers there are, the shorter they are kept, which limits their memory.
    const share = Math.max(1, this.#helpers.size / KEPT_FOR_LONG);
    helper.idle = setTimeout(() => {
      if (!isInUse(helper)) this.#stop(helper);
    }, this.#limits.sandboxHelperIdleTimeoutMs / share);
    helper.idle.unref();
    for (const wake of this.#waiting) wake();
  }

  #stopOldest(): boolean {
    const oldest = [...this.#helpers].find((helper) => !isInUse(helper));
    if (oldest) this.#stop(oldest);
    return oldest !== undefined;
  }

  #stop(helper: PooledHelper): void {
    this.#helpers.delete(helper);
    clearTimeout(helper.idle);
    const stopped = helper.files[Symbol.asyncDispose]().finally(() => this.#stopping.delete(stopped));
    this.#stopping.add(stopped);
    for (const wake of this.#waiting) wake();
  }

  async #waitForRelease(deadline: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
    this.#waiting.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
    if (performance.now() >= deadline) {
      throw new Refusal(
        CODES.internal,
        `All ${this.#limits.busySandboxHelpers} sandbox helpers are in use (busySandboxHelpers). Close files or try again later.`,
      );
    }
  }
}

function isInUse({ leases, files }: PooledHelper): boolean {
  return leases > 0 || files.isBusy;
}
