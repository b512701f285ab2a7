import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";

const POLL_MS = 20;

/** Forwards connections to a unix socket until they are broken. Removes its own socket file when the target's is removed. */
export class SocketProxy implements AsyncDisposable {
  readonly path: string;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  readonly #target: string;
  #timer: NodeJS.Timeout | undefined;
  /** Connections that wait to be forwarded, while new connections are held. */
  #held: Socket[] | undefined;

  private constructor(target: string, path: string) {
    this.path = path;
    this.#target = target;
    this.#server = createServer((client) => {
      if (this.#held) this.#held.push(client);
      else this.#forward(client);
    });
  }

  static async start(target: string): Promise<SocketProxy> {
    const proxy = new SocketProxy(target, `${target}.proxy`);
    proxy.#server.listen(proxy.path);
    await once(proxy.#server, "listening");
    // When the daemon ends an app-server, it waits until the socket file is removed.
    proxy.#timer = setInterval(() => {
      if (!existsSync(target)) rmSync(proxy.path, { force: true });
    }, POLL_MS);
    return proxy;
  }

  /** Breaks all connections. */
  cut(): void {
    for (const client of this.#connections) client.destroy();
  }

  /** Breaks all connections. New connections wait for `release`. */
  hold(): void {
    this.#held ??= [];
    this.cut();
  }

  /** Number of waiting connections. */
  get held(): number {
    return this.#held?.length ?? 0;
  }

  /** Breaks the waiting connections. New connections wait for `release`. */
  drop(): void {
    for (const client of this.#held?.splice(0) ?? []) client.destroy();
  }

  release(): void {
    for (const client of this.#held?.splice(0) ?? []) this.#forward(client);
    this.#held = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hold();
    for (const client of this.#held ?? []) client.destroy();
    clearInterval(this.#timer);
    this.#server.close();
    rmSync(this.path, { force: true });
  }

  #forward(client: Socket): void {
    const target = connect(this.#target);
    this.#connections.add(client);
    client.pipe(target).pipe(client);
    client.on("error", () => undefined);
    target.on("error", () => undefined);
    client.on("close", () => {
      this.#connections.delete(client);
      target.destroy();
    });
    target.on("close", () => client.destroy());
  }
}
