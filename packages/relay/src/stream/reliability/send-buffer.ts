/** A frame that the other end has not acknowledged. */
interface Entry {
  readonly frame: Buffer;
  /** Position in the order of all transmissions. Undefined before the first one. */
  sentOrder: number | undefined;
  sentAt: number;
  wasRetransmitted: boolean;
  /** Acknowledged by an ack bit. Kept until the cumulative acknowledgement passes it. */
  isReceived: boolean;
  /** To be sent again. */
  isLost: boolean;
}

export interface SendWindow {
  /** Frames between the oldest unacknowledged one and the newest that was sent. */
  readonly frames: number;
  /** Bytes that were sent and not acknowledged. */
  readonly bytes: number;
}

/** A frame is lost if this many that were sent after it arrived. Above the distance by which links reorder. */
const REORDER_DISTANCE = 12;

/** Bits of `ack_bits`. */
export const ACK_BITS = 32;

/**
 * Frames that were sent or wait for the window, in order, until they are acknowledged. A retransmission is the same frame:
 * its number is its nonce, which must not encrypt anything else. Pure: the caller sends frames and knows the time.
 */
export class SendBuffer {
  readonly #window: SendWindow;
  readonly #entries: Entry[] = [];
  /** Number of the first entry. */
  #firstSeq: number;
  /** Index of the first entry that was never sent. */
  #unsentIndex = 0;
  #order = 0;
  #unsentBytes = 0;
  #inFlightBytes = 0;

  constructor(window: SendWindow, firstSeq = 0) {
    this.#window = window;
    this.#firstSeq = firstSeq;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Bytes that were never sent. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Whether a sent frame awaits its acknowledgement. */
  get hasInFlight(): boolean {
    return this.#unsentIndex > 0;
  }

  /** Adds the next frame. */
  push(frame: Buffer): void {
    this.#entries.push({
      frame,
      sentOrder: undefined,
      sentAt: 0,
      wasRetransmitted: false,
      isReceived: false,
      isLost: false,
    });
    this.#unsentBytes += frame.length;
  }

  /** The frame to send now, if the window allows one. Lost frames come first. It counts as sent. */
  take(now: number): { readonly frame: Buffer; readonly isRetransmission: boolean } | undefined {
    const lost = this.#entries.find((entry, index) => index < this.#unsentIndex && entry.isLost);
    if (lost) {
      lost.isLost = false;
      lost.wasRetransmitted = true;
      this.#markSent(lost, now);
      return { frame: lost.frame, isRetransmission: true };
    }
    const next = this.#entries[this.#unsentIndex];
    if (!next || this.#isWindowFull(next)) return undefined;
    this.#unsentIndex += 1;
    this.#unsentBytes -= next.frame.length;
    this.#inFlightBytes += next.frame.length;
    this.#markSent(next, now);
    return { frame: next.frame, isRetransmission: false };
  }

  /**
   * Processes an acknowledgement: `ack` is the number of frames that arrived without a gap, and bit i of `ackBits` stands
   * for frame `ack + 1 + i`. An acknowledgement of frames that were never sent is ignored: fields in clear may be forged.
   */
  acknowledge(ack: number, ackBits: number, now: number): { isProgress: boolean; rttMs: number | undefined } {
    if (ack > this.#firstSeq + this.#unsentIndex) return { isProgress: false, rttMs: undefined };
    const firstSeq = this.#firstSeq;
    const newlyReceived = [...this.#takeAcknowledged(ack), ...this.#markReceived(ack, ackBits)];
    let newest: Entry | undefined;
    for (const entry of newlyReceived) {
      if (!newest || (entry.sentOrder ?? 0) > (newest.sentOrder ?? 0)) newest = entry;
    }
    // Frames that an ack bit had reported can be sent again, if they could not be decrypted, and are then passed here.
    if (!newest) return { isProgress: this.#firstSeq > firstSeq, rttMs: undefined };
    this.#detectLosses(newest.sentOrder ?? 0);
    // The acknowledgement of a retransmitted frame does not say which copy arrived.
    return { isProgress: true, rttMs: newest.wasRetransmitted ? undefined : now - newest.sentAt };
  }

  /** Nothing was acknowledged for too long: the oldest frame is sent again. */
  loseOldest(): void {
    const oldest = this.#entries[0];
    if (oldest && this.#unsentIndex > 0) oldest.isLost = true;
  }

  /** All frames that were sent and are not known to have arrived are sent again, as after the loss of a connection. */
  loseAll(): void {
    for (let index = 0; index < this.#unsentIndex; index++) {
      const entry = this.#entries[index];
      if (entry && !entry.isReceived) entry.isLost = true;
    }
  }

  /** Removes the frames that were never sent. */
  takeUnsent(): Buffer[] {
    this.#unsentBytes = 0;
    return this.#entries.splice(this.#unsentIndex).map(({ frame }) => frame);
  }

  #isWindowFull(next: Entry): boolean {
    if (this.#unsentIndex === 0) return false;
    return (
      this.#unsentIndex >= this.#window.frames || this.#inFlightBytes + next.frame.length > this.#window.bytes
    );
  }

  #markSent(entry: Entry, now: number): void {
    this.#order += 1;
    entry.sentOrder = this.#order;
    entry.sentAt = now;
  }

  /** Removes what the cumulative acknowledgement covers. Returns those that were not known to have arrived. */
  #takeAcknowledged(ack: number): Entry[] {
    const count = Math.max(0, ack - this.#firstSeq);
    if (count === 0) return [];
    const removed = this.#entries.splice(0, count);
    this.#firstSeq += count;
    this.#unsentIndex -= count;
    const newly = removed.filter((entry) => !entry.isReceived);
    for (const { frame } of newly) this.#inFlightBytes -= frame.length;
    return newly;
  }

  #markReceived(ack: number, ackBits: number): Entry[] {
    const newly: Entry[] = [];
    for (let bit = 0; bit < ACK_BITS; bit++) {
      if (((ackBits >>> bit) & 1) === 0) continue;
      const index = ack + 1 + bit - this.#firstSeq;
      const entry = index >= 0 && index < this.#unsentIndex ? this.#entries[index] : undefined;
      if (!entry || entry.isReceived) continue;
      entry.isReceived = true;
      entry.isLost = false;
      this.#inFlightBytes -= entry.frame.length;
      newly.push(entry);
    }
    return newly;
  }

  #detectLosses(newestOrder: number): void {
    for (let index = 0; index < this.#unsentIndex; index++) {
      const entry = this.#entries[index];
      if (!entry || entry.isReceived || entry.sentOrder === undefined) continue;
      if (entry.sentOrder + REORDER_DISTANCE < newestOrder) entry.isLost = true;
    }
  }
}
