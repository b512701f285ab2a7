import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTP server on loopback that records requests. */
export class Receiver implements AsyncDisposable {
  readonly url: string;
  readonly received: Received[] = [];
  readonly #close: () => Promise<void>;
  readonly #waiters = new Set<() => void>();

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  /** @param answer Default: status 200 and an empty body. */
  static async start(
    answer: (received: Received, response: ServerResponse) => void = (_, response) => response.end(),
  ): Promise<Receiver> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const received = { headers: request.headers, body: Buffer.concat(chunks).toString() };
        receiver.received.push(received);
        for (const wake of receiver.#waiters) wake();
        answer(received, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const receiver = new Receiver(`http://127.0.0.1:${port}/hook`, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return receiver;
  }

  /** Resolves when this many requests have arrived. */
  async waitFor(count: number, timeoutMs = 20_000): Promise<readonly Received[]> {
    const limit = AbortSignal.timeout(timeoutMs);
    while (this.received.length < count) {
      await new Promise<void>((resolve, reject) => {
        const wake = (): void => {
          this.#waiters.delete(wake);
          resolve();
        };
        this.#waiters.add(wake);
        limit.addEventListener("abort", () =>
          reject(new Error(`${this.received.length} of ${count} requests arrived.`)),
        );
      });
    }
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}
