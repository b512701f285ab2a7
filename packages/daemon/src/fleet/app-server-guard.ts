import { raceAbort } from "@codexkit/rpc/async";
import { identifyProcess, isRunning, type ProcessIdentity, signalProcess } from "./signal-process.ts";
import { WatchdogProcess, type WatchdogOptions } from "./watchdog-process.ts";

/**
 * Stops, continues and kills the app-servers of a node as its lease requires. The watchdog does the same independently, in case
 * this process hangs. A stopped app-server starts nothing new, but commands that it has already started keep running.
 */
export class AppServerGuard implements Disposable {
  readonly #processes = new Map<number, ProcessIdentity>();
  #watchdog: WatchdogProcess | undefined;
  #thawed: PromiseWithResolvers<void> | undefined;

  get isFrozen(): boolean {
    return this.#thawed !== undefined;
  }

  /** Starts a watchdog for a new lease. It replaces the previous watchdog. */
  watch(options: WatchdogOptions): void {
    this.#watchdog?.end();
    this.#watchdog = new WatchdogProcess(options, () => this.#processes.values());
  }

  /** Call before sending any request to the app-server. */
  add(pid: number | null): void {
    const identity = pid === null ? undefined : identifyProcess(pid);
    if (!identity) return;
    for (const other of this.#processes.values()) if (!isRunning(other)) this.#processes.delete(other.pid);
    this.#processes.set(identity.pid, identity);
    this.#watchdog?.add(identity);
    if (this.isFrozen) signalProcess(identity, "SIGSTOP");
  }

  freeze(): void {
    this.#thawed ??= Promise.withResolvers();
    this.#signalAll("SIGSTOP");
  }

  /** Call after the lease was renewed and the sessions that other nodes have taken were given up. */
  renewed(sentAt: number): void {
    this.#watchdog?.renewed(sentAt);
  }

  thaw(): void {
    this.#signalAll("SIGCONT");
    this.#thawed?.resolve();
    this.#thawed = undefined;
  }

  kill(): void {
    this.#signalAll("SIGKILL");
  }

  fenced(): void {
    this.#watchdog?.fenced();
    this.kill();
  }

  /** Resolves when the app-servers are not frozen. Rejects if the signal aborts. */
  async untilThawed(signal: AbortSignal): Promise<void> {
    while (this.#thawed) await raceAbort(this.#thawed.promise, signal);
  }

  /** Call after the app-servers have ended. */
  [Symbol.dispose](): void {
    this.#watchdog?.end();
    this.#thawed?.resolve();
  }

  #signalAll(signal: NodeJS.Signals): void {
    for (const identity of this.#processes.values()) signalProcess(identity, signal);
  }
}
