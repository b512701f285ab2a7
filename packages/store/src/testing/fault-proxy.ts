import { once } from "node:events";
import {
  connect,
  createServer,
  type AddressInfo,
  type NetConnectOpts,
  type Server,
  type Socket,
} from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * What a {@link FaultProxy} does with its connections.
 *
 * - `pass`: forwards everything.
 * - `delay`: forwards everything later.
 * - `blackhole`: forwards nothing. Held data arrives when the mode changes, as after a network outage.
 * - `half-open`: existing connections are permanently dead without either side noticing; new ones work, as
 *   after a failover.
 * - `reset`: existing and new connections are reset.
 */
export type FaultMode = "pass" | "delay" | "blackhole" | "half-open" | "reset";

/**
 * What to do with data from the target: the chunks to forward, and whether to reset the connection after
 * them.
 */
export interface Filtered {
  readonly forward: readonly Buffer[];
  readonly isCut: boolean;
}

export interface FaultProxyOptions {
  readonly target: NetConnectOpts;
  /** Path of a unix socket. Default: a free TCP port on the loopback interface. */
  readonly path?: string;
  /** Creates a filter for the data that the target sends on one connection. */
  readonly filter?: () => (data: Buffer) => Filtered;
}

const DEFAULT_DELAY_MS = 100;

/** A proxy that makes its connections behave like a bad network. The mode can be changed at any time. */
export class FaultProxy implements AsyncDisposable {
  readonly #options: FaultProxyOptions;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #mode: FaultMode = "pass";
  #delayMs = DEFAULT_DELAY_MS;

  private constructor(options: FaultProxyOptions) {
    this.#options = options;
    this.#server = createServer({ pauseOnConnect: true }, (client) => this.#accept(client));
  }

  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    if (options.path === undefined) proxy.#server.listen(0, "127.0.0.1");
    else proxy.#server.listen(options.path);
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** The TCP port. 0 for a unix socket. */
  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get mode(): FaultMode {
    return this.#mode;
  }

  /** Number of connections. */
  get size(): number {
    return this.#links.size;
  }

  /** @param delayMs For `delay`, in each direction. Default: 100. */
  setMode(mode: FaultMode, { delayMs = DEFAULT_DELAY_MS }: { readonly delayMs?: number } = {}): void {
    this.#mode = mode;
    this.#delayMs = delayMs;
    for (const link of this.#links) link.setMode(mode, delayMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.#links) link.cut();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }

  #accept(client: Socket): void {
    const { target, filter } = this.#options;
    const link = new Link(client, connect(target), filter?.(), () => this.#links.delete(link));
    this.#links.add(link);
    // A new connection is not one of those that broke in the failover.
    link.setMode(this.#mode === "half-open" ? "pass" : this.#mode, this.#delayMs);
  }
}

/** A client connection and the matching connection to the target. */
class Link {
  readonly #sides: readonly [client: Socket, target: Socket];
  readonly #onEnd: () => void;
  #mode: FaultMode = "blackhole";
  #delayMs = 0;
  #isDead = false;

  constructor(
    client: Socket,
    target: Socket,
    filter: ((data: Buffer) => Filtered) | undefined,
    onEnd: () => void,
  ) {
    this.#sides = [client, target];
    this.#onEnd = onEnd;
    this.#forward(client, target);
    this.#forward(target, client, filter);
    for (const side of this.#sides) side.pause();
  }

  setMode(mode: FaultMode, delayMs: number): void {
    this.#mode = mode;
    this.#delayMs = delayMs;
    if (mode === "reset") return this.cut();
    if (mode === "half-open") this.#isDead = true;
    for (const side of this.#sides) {
      if (this.#isHeld) side.pause();
      else side.resume();
      if (side.closed) this.#closed(side);
    }
  }

  cut(): void {
    for (const side of this.#sides) {
      // Only TCP can reset a connection.
      if (side.remoteAddress === undefined) side.destroy();
      else side.resetAndDestroy();
    }
  }

  /** Whether data is held. Unread data stays in the socket buffers, so senders eventually block. */
  get #isHeld(): boolean {
    return this.#mode === "blackhole" && !this.#isDead;
  }

  #forward(from: Socket, to: Socket, filter?: (data: Buffer) => Filtered): void {
    // Delayed chunks stay in order.
    let sent = Promise.resolve();
    const later = (action: () => void): void => {
      if (this.#mode !== "delay") return void (sent = sent.then(action));
      const dueAt = performance.now() + this.#delayMs;
      sent = sent.then(() => delay(Math.max(0, dueAt - performance.now()))).then(action);
    };
    from.on("error", () => {});
    from.on("close", () => this.#closed(from));
    from.on("end", () => {
      if (!this.#isDead) later(() => to.end());
    });
    from.on("data", (data: Buffer) => {
      if (this.#isDead) return;
      const { forward, isCut } = filter?.(data) ?? { forward: [data], isCut: false };
      later(() => {
        if (this.#isDead) return;
        let isFull = false;
        for (const chunk of forward) isFull = !to.write(chunk) || isFull;
        if (isCut) return this.cut();
        if (!isFull) return;
        from.pause();
        to.once("drain", () => {
          if (!this.#isHeld) from.resume();
        });
      });
    });
  }

  /** During an outage, the other side does not notice. */
  #closed(side: Socket): void {
    if (this.#sides.every(({ closed }) => closed)) return this.#onEnd();
    if (this.#isHeld || this.#isDead) return;
    const [client, target] = this.#sides;
    (side === client ? target : client).destroySoon();
  }
}
