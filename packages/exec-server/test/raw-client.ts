import { once } from "node:events";
import { WebSocket } from "ws";

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** How long the server may be silent during a wait. */
const WAIT_MS = 20_000;

/** A WebSocket that speaks in raw messages: for what a well-behaved client never sends. */
export class RawClient implements Disposable {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  /** The text of every message, as it came. */
  readonly texts: string[] = [];
  readonly #watchers = new Set<() => void>();
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("message", (data) => {
      const text = (data as Buffer).toString();
      this.texts.push(text);
      this.messages.push(JSON.parse(text) as Message);
      for (const watcher of this.#watchers) watcher();
    });
    socket.on("close", () => {
      for (const watcher of this.#watchers) watcher();
    });
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<RawClient> {
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 1024 ** 3, headers });
    const client = new RawClient(socket);
    await once(socket, "open", { signal: AbortSignal.timeout(WAIT_MS) });
    return client;
  }

  /** A client that has shaken hands. */
  static async ready(url: string, resumeSessionId?: string): Promise<RawClient & { sessionId: string }> {
    const client = await RawClient.open(url);
    const { result } = await client.call("initialize", {
      clientName: "raw",
      resumeSessionId: resumeSessionId ?? null,
    });
    client.send({ method: "initialized", params: {} });
    return Object.assign(client, { sessionId: String(result?.["sessionId"]) });
  }

  send(message: object | string): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  async call(method: string, params?: unknown): Promise<Message> {
    const id = this.#nextId++;
    this.send({ id, method, params });
    return this.until((message) => message.id === id && message.method === undefined);
  }

  /** The first message that fits, of those that came and those to come. */
  async until(fits: (message: Message) => boolean): Promise<Message> {
    await this.when(() => this.messages.some(fits) || this.isClosed);
    const found = this.messages.find(fits);
    if (!found) throw new Error(`the connection closed (${this.socket.readyState}) before the message came`);
    return found;
  }

  /** Resolves when this holds; looked at after every message and at the end. */
  async when(holds: () => boolean, waitMs: number = WAIT_MS): Promise<void> {
    if (holds()) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error("it did not come in time")), waitMs);
    const look = (): void => {
      timer.refresh();
      if (holds()) resolve();
    };
    this.#watchers.add(look);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#watchers.delete(look);
    }
  }

  closed(): Promise<void> {
    return this.when(() => this.isClosed);
  }

  get isClosed(): boolean {
    return this.socket.readyState === WebSocket.CLOSED;
  }

  [Symbol.dispose](): void {
    this.socket.terminate();
  }
}
