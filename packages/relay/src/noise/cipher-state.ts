import { createSecretKey, type KeyObject } from "node:crypto";
import { RelayError } from "../errors.ts";
import { nextKey, openRecord, sealRecord } from "./aes-gcm.ts";

/**
 * Largest nonce. Noise allows 64 bits, but the sequence number of a frame, which equals its nonce, has 32 bits and never
 * wraps: at records of 60 KiB that is more than 200 TiB.
 */
export const MAX_NONCE = 2 ** 32 - 1;

/** The key of one direction of an established stream. Encryption numbers the records. Decryption receives the number. */
export class CipherState {
  #key: KeyObject | undefined;
  #nextNonce: number;
  #rekeyInterval = Infinity;
  /** Number of the first record that needs the next key. */
  #rekeyAt = Infinity;

  /** Takes the key, whose bytes are zeroed here. */
  constructor(key: Buffer, firstNonce = 0) {
    this.#key = takeKey(key);
    this.#nextNonce = firstNonce;
  }

  /**
   * Replaces the key with the next one at each record whose number is a multiple of `records`. A key that is stolen later then
   * decrypts no record before the last replacement. Both ends must call this before such a record, and decrypt in order.
   */
  rekeyEvery(records: number): void {
    this.#rekeyInterval = records;
    this.#rekeyAt = records;
  }

  /** The nonce of the next record that `encrypt` makes. */
  get nextNonce(): number {
    return this.#nextNonce;
  }

  /** Encrypts one record, with room for a header of `headerBytes` before it. Throws at the nonce limit. */
  encrypt(plaintext: Uint8Array, headerBytes = 0, associatedData?: Uint8Array): Buffer {
    const nonce = this.#nextNonce;
    const key = this.#keyFor(nonce);
    this.#nextNonce += 1;
    return sealRecord(key, nonce, plaintext, associatedData, headerBytes);
  }

  /** Decrypts the record with a nonce. The caller makes sure that a nonce is used once. */
  decrypt(nonce: number, data: Uint8Array, associatedData?: Uint8Array): Buffer {
    return openRecord(this.#keyFor(nonce), nonce, data, associatedData);
  }

  /** Drops the key. Later calls throw. */
  destroy(): void {
    this.#key = undefined;
  }

  #keyFor(nonce: number): KeyObject {
    if (!this.#key) throw new RelayError("disconnected", "The stream has ended, and its keys were deleted.");
    if (nonce > MAX_NONCE) {
      const text = `The stream has used all ${MAX_NONCE + 1} record numbers. Open a new one.`;
      throw new RelayError("limit", text);
    }
    if (nonce >= this.#rekeyAt) {
      this.#key = takeKey(nextKey(this.#key));
      this.#rekeyAt += this.#rekeyInterval;
    }
    return this.#key;
  }
}

/** Zeroes the bytes: OpenSSL holds the only copy, and clears it when it is freed. */
function takeKey(bytes: Buffer): KeyObject {
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}
