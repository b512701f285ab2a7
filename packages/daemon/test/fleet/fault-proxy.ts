import { once } from "node:events";
import {
  type AddressInfo,
  connect,
  createServer,
  type NetConnectOpts,
  type Server,
  type Socket,
} from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * How the network treats connections.
 *
 * - `pass`: data is forwarded.
 * - `delay`: data is forwarded late, in order.
 * - `blackhole`: no data arrives until the mode changes. Then all of it does, as if TCP had retransmitted it.
 * - `half-open`: connections that are open at the change are dead, and neither side is notified. New connections work.
 * - `reset`: open and new connections are reset.
 */
export type NetworkMode = "pass" | "delay" | "blackhole" | "half-open" | "reset";

export const NETWORK_MODES: readonly NetworkMode[] = ["pass", "delay", "blackhole", "half-open", "reset"];

const DELAY_MS = 30;

export interface FaultProxyOptions {
  /** Returns what a connection is used for, given data that the client sends over it. Undefined if the data does not show it. */
  readonly classify?: (data: Buffer) => string | undefined;
  /** The use of connections whose data has not shown it. Default: `unknown`. */
  readonly unclassified?: string;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  use: string | undefined;
  isDead: boolean;
}

/** A TCP proxy whose faults can be switched while connections are open. */
export class FaultProxy implements AsyncDisposable {
  readonly #listener: Server;
  readonly #target: () => NetConnectOpts | undefined;
  readonly #classify: FaultProxyOptions["classify"];
  readonly #unclassified: string;
  readonly #links = new Set<Link>();
  /** Connections that are accepted but not connected to the target yet. */
  readonly #waiting = new Set<Socket>();
  #mode: NetworkMode = "pass";
  #changed = Promise.withResolvers<void>();
  #trigger: { readonly text: string; readonly seen: () => void } | undefined;

  private constructor(
    target: () => NetConnectOpts | undefined,
    { classify, unclassified = "unknown" }: FaultProxyOptions,
  ) {
    this.#target = target;
    this.#classify = classify;
    this.#unclassified = unclassified;
    this.#listener = createServer({ noDelay: true }, (client) => void this.#accept(client));
  }

  /** @param target Where connections are forwarded to. They are refused while it is undefined. */
  static async start(
    target: () => NetConnectOpts | undefined,
    options: FaultProxyOptions = {},
  ): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, options);
    proxy.#listener.listen(0, "127.0.0.1");
    await once(proxy.#listener, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  get mode(): NetworkMode {
    return this.#mode;
  }

  set mode(mode: NetworkMode) {
    // Repeated, the mode `half-open` affects the connections that were opened since.
    if (mode === this.#mode && mode !== "half-open") return;
    const wasHalfOpen = this.#mode === "half-open";
    this.#mode = mode;
    for (const link of this.#links) {
      if (mode === "half-open") link.isDead = true;
      else if (mode === "reset" || (wasHalfOpen && link.isDead)) breakLink(link);
    }
    if (mode === "reset") for (const client of this.#waiting) client.resetAndDestroy();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Makes the open connections with this use half-open. Returns their number. */
  cutHalfOpen(use: string): number {
    const cut = [...this.#links].filter((link) => (link.use ?? this.#unclassified) === use && !link.isDead);
    for (const link of cut) link.isDead = true;
    return cut.length;
  }

  /** Switches to `blackhole` before forwarding the first client data that contains this text. Resolves at that moment. */
  async blackholeBefore(text: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#trigger = { text, seen: resolve };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#listener, "close");
    this.#listener.close();
    for (const link of this.#links) breakLink(link);
    for (const client of this.#waiting) client.destroy();
    this.#mode = "reset";
    this.#changed.resolve();
    await closed;
  }

  async #accept(client: Socket): Promise<void> {
    client.on("error", () => {});
    this.#waiting.add(client);
    await this.#untilPassable();
    this.#waiting.delete(client);
    const target = this.#target();
    if (this.#mode === "reset" || !target || client.destroyed) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(target);
    server.on("error", () => {});
    const link: Link = { client, server, use: undefined, isDead: false };
    this.#links.add(link);
    await Promise.all([this.#pump(link, client, server), this.#pump(link, server, client)]);
    this.#links.delete(link);
  }

  async #pump(link: Link, from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        if (from === link.client) link.use ??= this.#classify?.(chunk);
        if (from === link.client && this.#trigger && chunk.includes(this.#trigger.text)) {
          const { seen } = this.#trigger;
          this.#trigger = undefined;
          this.mode = "blackhole";
          seen();
        }
        await this.#untilPassable(link);
        if (!link.isDead && !to.destroyed && !to.write(chunk)) await untilDrained(to);
      }
    } catch {
      // The connection broke.
    }
    await this.#untilPassable(link);
    if (!link.isDead) to.destroy();
  }

  async #untilPassable(link?: Link): Promise<void> {
    if (this.#mode === "delay") await delay(DELAY_MS);
    const isHeld = (): boolean => this.#mode === "blackhole" && link?.isDead !== true;
    while (isHeld()) await this.#changed.promise;
  }
}

async function untilDrained(socket: Socket): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(socket, "drain", { signal }), once(socket, "close", { signal })]);
  over.abort();
}

function breakLink({ client, server }: Link): void {
  client.resetAndDestroy();
  server.destroy();
}
