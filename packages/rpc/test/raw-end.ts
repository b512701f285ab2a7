import type { RpcError, Transport } from "../src/index.ts";

/** The far end of a transport without a peer on it: says what a test makes it say, and shows what came. */
interface RawEnd {
  /** The next message that came, or will come. */
  next(): Promise<Received>;
  /** Messages that came and were not asked for with `next`. */
  readonly unread: readonly Received[];
  readonly anomalies: readonly RpcError[];
  /** Resolves with the cause when the transport says that it is closed; counts how often it says so. */
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
