import type { Duplex } from "node:stream";
import { timerDelay } from "@codexkit/rpc/async";
import type { WebSocket } from "ws";
import type { RegistryLimits } from "../limits.ts";
import { EnvironmentUsage } from "./environment-usage.ts";
import { type ConnectionContext, ExecutorConnection, type ExecutorIdentity } from "./executor-connection.ts";
import { HarnessConnection, type HarnessIdentity } from "./harness-connection.ts";
import type { RelaySocket } from "./relay-socket.ts";
import { type FrameFilter, RendezvousCounters } from "./rendezvous-counters.ts";

export interface RendezvousOptions {
  readonly limits: RegistryLimits;
  readonly frameFilter?: FrameFilter | undefined;
}

/** Time for peers to answer the close of their sockets. */
const CLOSE_MS = 1_000;

/** The sockets of one node: executors by registration, each with its harnesses. */
export class Rendezvous implements AsyncDisposable {
  readonly counters = new RendezvousCounters();
  readonly #limits: RegistryLimits;
  readonly #filter: FrameFilter | undefined;
  readonly #executors = new Map<string, ExecutorConnection>();
  readonly #environments = new Map<string, EnvironmentUsage>();
  readonly #timer: NodeJS.Timeout;
  readonly #sockets = new Set<RelaySocket>();
  #onEmpty: (() => void) | undefined;

  constructor({ limits, frameFilter }: RendezvousOptions) {
    this.#limits = limits;
    this.#filter = frameFilter;
    this.#timer = setInterval(() => this.#check(), timerDelay(Math.min(limits.pingMs, limits.idleMs)));
  }

  get executors(): Iterable<ExecutorConnection> {
    return this.#executors.values();
  }

  findExecutor(registrationId: string): ExecutorConnection | undefined {
    return this.#executors.get(registrationId);
  }

  /** Adds the socket of an executor. It replaces an earlier socket of the same registration, which may be half-open. */
  addExecutor(
    identity: ExecutorIdentity,
    webSocket: WebSocket,
    connection: Duplex,
    onClose: () => void,
  ): ExecutorConnection {
    const { registrationId } = identity;
    this.#executors.get(registrationId)?.socket.terminate();
    const context = this.#context(identity.environmentId, webSocket, connection);
    const executor = new ExecutorConnection(identity, context, () => {
      if (this.#executors.get(registrationId) === executor) this.#executors.delete(registrationId);
      onClose();
      this.#remove(executor.socket, identity.environmentId);
    });
    this.#sockets.add(executor.socket);
    this.#executors.set(registrationId, executor);
    return executor;
  }

  addHarness(
    identity: HarnessIdentity,
    executor: ExecutorConnection,
    webSocket: WebSocket,
    connection: Duplex,
    onClose: () => void,
  ): HarnessConnection {
    const context = this.#context(identity.environmentId, webSocket, connection);
    const harness = new HarnessConnection(identity, executor, context, () => {
      onClose();
      this.#remove(harness.socket, identity.environmentId);
    });
    this.#sockets.add(harness.socket);
    return harness;
  }

  /** Executors of an environment on this node. */
  canAddExecutor(identity: Pick<ExecutorIdentity, "registrationId" | "environmentId">): boolean {
    const count = this.#environments.get(identity.environmentId)?.executors ?? 0;
    return this.#executors.has(identity.registrationId) || count < this.#limits.executorsPerEnvironment;
  }

  /** Closes all sockets and waits until they have ended. Sockets whose peers don't answer are terminated. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    if (this.#sockets.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    // The harnesses of an executor are closed with it.
    for (const executor of this.#executors.values()) executor.socket.close(1001, "going away");
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.terminate();
    }, CLOSE_MS);
    await promise;
    clearTimeout(timer);
  }

  #check(): void {
    const now = performance.now();
    for (const executor of this.#executors.values()) {
      executor.socket.check(now);
      for (const harness of executor.harnesses) harness.socket.check(now);
    }
  }

  #context(environmentId: string, webSocket: WebSocket, connection: Duplex): ConnectionContext {
    let usage = this.#environments.get(environmentId);
    if (!usage) this.#environments.set(environmentId, (usage = new EnvironmentUsage(this.#limits)));
    return {
      webSocket,
      connection,
      limits: this.#limits,
      usage,
      counters: this.counters,
      filter: this.#filter,
    };
  }

  #remove(socket: RelaySocket, environmentId: string): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size === 0) this.#onEmpty?.();
    if (this.#environments.get(environmentId)?.isUnused) this.#environments.delete(environmentId);
  }
}
