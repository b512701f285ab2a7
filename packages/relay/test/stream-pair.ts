import { generateIdentity } from "../src/noise/identity.ts";
import type { OpenStreamOptions } from "../src/stream/open-stream-options.ts";
import { openStream } from "../src/stream/open-stream.ts";
import type { RelayStream } from "../src/stream/relay-stream.ts";
import { StreamAcceptor } from "../src/stream/stream-acceptor.ts";
import type { StreamAcceptorOptions } from "../src/stream/acceptor-options.ts";
import { createCounters } from "../src/stream/counters.ts";
import { memoryChannelPair } from "./memory-channel.ts";

export const ENVIRONMENT_ID = "env-1";
export const REGISTRATION_ID = "registration-1";
export const AUTHORIZATION = "authorization-of-the-harness";

/** Made once: two key pairs cost more than most tests. */
export const EXECUTOR = generateIdentity();
export const HARNESS = generateIdentity();

/** An acceptor that accepts every harness, and the streams that it got. */
export function testAcceptor(options: Partial<StreamAcceptorOptions> = {}) {
  const counters = createCounters();
  const streams: RelayStream[] = [];
  const waiting: ((stream: RelayStream) => void)[] = [];
  const acceptor = new StreamAcceptor({
    identity: EXECUTOR,
    environmentId: ENVIRONMENT_ID,
    validate: async () => ({ isValid: true }),
    onStream: (stream) => {
      streams.push(stream);
      waiting.shift()?.(stream);
    },
    counters,
    ...options,
  });
  const nextStream = (): Promise<RelayStream> => new Promise((resolve) => waiting.push(resolve));
  return { acceptor, counters, streams, nextStream };
}

export function harnessOptions(options: Partial<OpenStreamOptions> = {}): OpenStreamOptions {
  return {
    identity: HARNESS,
    executorKey: EXECUTOR.publicKey,
    environmentId: ENVIRONMENT_ID,
    registrationId: REGISTRATION_ID,
    authorization: AUTHORIZATION,
    ...options,
  };
}

/** A stream that is established over a connection in memory, both ends. */
export async function streamPair(
  options: { harness?: Partial<OpenStreamOptions>; executor?: Partial<StreamAcceptorOptions> } = {},
) {
  const [harnessChannel, executorChannel] = memoryChannelPair();
  const test = testAcceptor(options.executor);
  const served = test.acceptor.serve(executorChannel, REGISTRATION_ID);
  const counters = createCounters();
  const [harness, executor] = await Promise.all([
    openStream(harnessChannel, harnessOptions({ counters, ...options.harness })),
    test.nextStream(),
  ]);
  return { harness, executor, harnessChannel, executorChannel, served, harnessCounters: counters, ...test };
}

/** Collects the messages of a stream. */
export class Inbox {
  readonly messages: string[] = [];
  readonly closed: Promise<Error | undefined>;
  closedCalls = 0;
  #wake: (() => void) | undefined;

  constructor(stream: RelayStream) {
    this.closed = new Promise((resolve) => {
      stream.start({
        text: (message) => {
          this.messages.push(message);
          this.#wake?.();
        },
        malformed: () => {},
        closed: (cause) => {
          this.closedCalls += 1;
          resolve(cause);
          this.#wake?.();
        },
      });
    });
  }

  /** Resolves once this many messages have arrived. */
  async count(messages: number): Promise<string[]> {
    while (this.messages.length < messages) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.messages;
  }
}
