import { timerDelay } from "@codexkit/rpc/async";
import type { RegistryLimits } from "../limits.ts";

export type HandshakeLimits = Pick<
  RegistryLimits,
  "handshakesPerToken" | "failedHandshakesMs" | "handshakeMs"
>;

/** `wait`: until the callback of `onFree` is called. `refused`: too many handshakes of the token have failed. */
type Admission = "admitted" | "wait" | "refused";

/** A stream that the executor has not answered yet. It remains if its harness disconnects, to learn the result. */
interface PendingStream {
  readonly tokenId: string;
  readonly timer: NodeJS.Timeout;
  /** Frames that fail if the executor resets the stream. */
  attempts: number;
}

interface TokenUse {
  pending: number;
  attempts: number;
  /** Times of the recent failures. */
  failures: number[];
  /** In the order of their requests. */
  readonly waiting: Set<() => void>;
}

/**
 * Limits the streams of each token that one executor has not accepted. Codex's executor closes its connection, which all
 * harnesses share, after 8 failed handshakes. Therefore the pending and the failed handshakes of a token count together.
 */
export class HandshakeLimiter implements Disposable {
  readonly #limits: HandshakeLimits;
  readonly #onTimeout: (streamId: string) => void;
  readonly #streams = new Map<string, PendingStream>();
  readonly #tokens = new Map<string, TokenUse>();

  constructor(limits: HandshakeLimits, onTimeout: (streamId: string) => void) {
    this.#limits = limits;
    this.#onTimeout = onTimeout;
  }

  /**
   * Decides whether to forward a frame of a stream that the executor has not accepted.
   *
   * @param isAttempt Whether the frame counts as a failure at the executor if the stream is refused.
   */
  admit(streamId: string, tokenId: string, isAttempt: boolean): Admission {
    const limit = this.#limits.handshakesPerToken;
    const token = this.#tokenUse(tokenId);
    const stream = this.#streams.get(streamId);
    // The stream of a harness that has disconnected. No other harness knows its ID.
    if (stream && stream.tokenId !== tokenId) return "refused";
    if (isAttempt) {
      if (token.failures.length >= limit) return "refused";
      if (token.attempts + token.failures.length >= limit) return "wait";
    }
    if (!stream && token.pending >= limit) return "wait";
    const admitted = stream ?? this.#add(streamId, tokenId, token);
    if (isAttempt) {
      admitted.attempts += 1;
      token.attempts += 1;
    }
    return "admitted";
  }

  /** Calls back once, when the token may have a free place. */
  onFree(tokenId: string, callback: () => void): void {
    this.#tokenUse(tokenId).waiting.add(callback);
  }

  cancel(tokenId: string, callback: () => void): void {
    this.#tokens.get(tokenId)?.waiting.delete(callback);
    this.#forgetUnused(tokenId);
  }

  /** Records the executor's first answer to a stream: an acceptance, or a reset. */
  answered(streamId: string, isReset: boolean): void {
    const stream = this.#streams.get(streamId);
    if (!stream) return;
    if (isReset && stream.attempts > 0) {
      const now = performance.now();
      const { failures } = this.#tokenUse(stream.tokenId);
      for (let attempt = 0; attempt < stream.attempts; attempt++) failures.push(now);
    }
    this.#remove(streamId, stream);
  }

  /** The harness has left the stream. If the executor can still refuse a handshake, its answer is awaited. */
  abandon(streamId: string): void {
    const stream = this.#streams.get(streamId);
    if (stream?.attempts === 0) this.#remove(streamId, stream);
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#streams.values()) clearTimeout(timer);
    this.#streams.clear();
    this.#tokens.clear();
  }

  #add(streamId: string, tokenId: string, token: TokenUse): PendingStream {
    const timer = setTimeout(() => {
      this.#remove(streamId, stream);
      this.#onTimeout(streamId);
    }, timerDelay(this.#limits.handshakeMs));
    const stream: PendingStream = { tokenId, timer, attempts: 0 };
    this.#streams.set(streamId, stream);
    token.pending += 1;
    return stream;
  }

  #remove(streamId: string, { tokenId, timer, attempts }: PendingStream): void {
    clearTimeout(timer);
    this.#streams.delete(streamId);
    const token = this.#tokenUse(tokenId);
    token.pending -= 1;
    token.attempts -= attempts;
    const waiting = [...token.waiting];
    token.waiting.clear();
    // Those that still have to wait add themselves again, in the same order.
    for (const callback of waiting) callback();
    this.#forgetUnused(tokenId);
  }

  #tokenUse(tokenId: string): TokenUse {
    let token = this.#tokens.get(tokenId);
    if (!token) {
      token = { pending: 0, attempts: 0, failures: [], waiting: new Set() };
      this.#tokens.set(tokenId, token);
    }
    const since = performance.now() - this.#limits.failedHandshakesMs;
    token.failures = token.failures.filter((at) => at > since);
    return token;
  }

  #forgetUnused(tokenId: string): void {
    const token = this.#tokens.get(tokenId);
    if (!token || token.pending > 0 || token.failures.length > 0 || token.waiting.size > 0) return;
    this.#tokens.delete(tokenId);
  }
}
