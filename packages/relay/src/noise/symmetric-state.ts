import { createHash, hkdfSync } from "node:crypto";
import { openRecord, sealRecord } from "./aes-gcm.ts";
import { CipherState } from "./cipher-state.ts";

/** Size of SHA-256, of a chaining key and of an AES-256 key. */
const HASH_BYTES = 32;

const EMPTY = Buffer.alloc(0);

/**
 * The `SymmetricState` of the Noise specification (section 5.2) for SHA-256 and AES-256-GCM: the running transcript hash
 * and the key derived so far. Used for one handshake and zeroed by `split` or `destroy`.
 */
export class SymmetricState {
  #hash: Buffer;
  #chainingKey: Buffer;
  #key: Buffer | undefined;
  #nonce = 0;

  constructor(protocolName: string) {
    // The name is longer than a hash, so that the specification starts from its hash instead of the padded name.
    this.#hash = createHash("sha256").update(protocolName).digest();
    this.#chainingKey = Buffer.from(this.#hash);
  }

  mixHash(data: Uint8Array): void {
    this.#hash = createHash("sha256").update(this.#hash).update(data).digest();
  }

  /** Takes a shared secret, which is zeroed here. */
  mixKey(secret: Buffer): void {
    const [chainingKey, key] = this.#derive(secret, 2);
    this.#install(chainingKey, key);
  }

  /** As `mixKey`, and binds the secret to the transcript as well. Takes a shared secret, which is zeroed here. */
  mixKeyAndHash(secret: Buffer): void {
    const [chainingKey, hash, key] = this.#derive(secret, 3);
    this.mixHash(hash ?? EMPTY);
    hash?.fill(0);
    this.#install(chainingKey, key);
  }

  /** Encrypts with the transcript as associated data. Before the first key, the data stays in clear, as Noise defines it. */
  encryptAndHash(plaintext: Uint8Array): Buffer {
    const output = this.#key
      ? sealRecord(this.#key, this.#nonce++, plaintext, this.#hash)
      : Buffer.from(plaintext);
    this.mixHash(output);
    return output;
  }

  /** The inverse of `encryptAndHash`. Throws if the data was not encrypted with this key and transcript. */
  decryptAndHash(data: Uint8Array): Buffer {
    const plaintext = this.#key ? openRecord(this.#key, this.#nonce++, data, this.#hash) : Buffer.from(data);
    this.mixHash(data);
    return plaintext;
  }

  /** Ends the handshake: the keys for the initiator's and for the responder's records. */
  split(): { readonly fromInitiator: CipherState; readonly fromResponder: CipherState } {
    const [first, second] = this.#derive(Buffer.alloc(0), 2);
    this.destroy();
    return {
      fromInitiator: new CipherState(first ?? EMPTY),
      fromResponder: new CipherState(second ?? EMPTY),
    };
  }

  /** Zeroes the keys. */
  destroy(): void {
    this.#chainingKey.fill(0);
    this.#key?.fill(0);
    this.#key = undefined;
  }

  #install(chainingKey: Buffer | undefined, key: Buffer | undefined): void {
    this.destroy();
    this.#chainingKey = chainingKey ?? EMPTY;
    this.#key = key;
    this.#nonce = 0;
  }

  /** Noise's HKDF is RFC 5869 with the chaining key as salt and without info. */
  #derive(secret: Buffer, outputs: 2 | 3): Buffer[] {
    const bytes = Buffer.from(hkdfSync("sha256", secret, this.#chainingKey, EMPTY, outputs * HASH_BYTES));
    secret.fill(0);
    return Array.from({ length: outputs }, (_, index) =>
      bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
    );
  }
}
