import type { RpcError, Transport } from "../src/index.ts";

/** The other end of a transport, without a peer: sends what a test tells it to, and records what it receives. */
interface RawEnd {
  /** Resolves to the next message, received or future. */
  next(): Promise<Received>;
  /** Received messages that `next` has not returned. */
  readonly unread: readonly Received[];
  readonly anomalies: readonly RpcError[];
  /** Resolves with the cause when the transport reports its close, and counts these reports. */
  readonly closed: Promise<Error | undefined>;
  readonly closedCalls: number;
  send(message: object): void;
  sendText(text: string): void;
  close(): Promise<void>;
}

export interface Received {
  id?: unknown;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export function rawEnd(transport: Transport): RawEnd {
  const unread: Received[] = [];
  const waiting: ((message: Received) => void)[] = [];
  const anomalies: RpcError[] = [];
  const { promise: closed, resolve: settleClosed } = Promise.withResolvers<Error | undefined>();
  let closedCalls = 0;
  transport.start({
    text: (text) => {
      const message = JSON.parse(text) as Received;
      const reader = waiting.shift();
      if (reader) reader(message);
      else unread.push(message);
    },
    malformed: (error) => void anomalies.push(error),
    closed: (cause) => {
      closedCalls += 1;
      settleClosed(cause);
    },
  });
  return {
    next: () =>
      new Promise((resolve) => {
        const message = unread.shift();
        if (message) resolve(message);
        else waiting.push(resolve);
      }),
    unread,
    anomalies,
    closed,
    get closedCalls() {
      return closedCalls;
    },
    send: (message) => void transport.send(JSON.stringify(message)),
    sendText: (text) => void transport.send(text),
    close: () => transport.close(),
  };
}
