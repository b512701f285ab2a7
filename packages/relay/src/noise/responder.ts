import { decapsulate, encapsulate } from "node:crypto";
import { RelayError } from "../errors.ts";
import { AES_TAG_BYTES } from "./aes-gcm.ts";
import {
  generateIdentity,
  MLKEM_KEY_BYTES,
  publicKeyFromBytes,
  type RelayIdentity,
  type RelayPublicKey,
  X25519_KEY_BYTES,
} from "./identity.ts";
import type { SymmetricState } from "./symmetric-state.ts";
import {
  type HandshakeRandomness,
  MAX_AUTHORIZATION_BYTES,
  MessageReader,
  MLKEM_CIPHERTEXT_BYTES,
  readEphemeral,
  sharedSecret,
  startTranscript,
  type StreamBinding,
  type StreamKeys,
  writeEphemeral,
  wrongLength,
} from "./transcript.ts";

/** Message 1 without its authorization. */
const MESSAGE_1_BYTES = MLKEM_CIPHERTEXT_BYTES + 2 * (X25519_KEY_BYTES + MLKEM_KEY_BYTES) + 3 * AES_TAG_BYTES;

const EMPTY = Buffer.alloc(0);

/** The harness as message 1 proves it, and what is to be validated before the answer. */
export interface HarnessClaim {
  readonly harnessKey: RelayPublicKey;
  readonly authorization: string;
}

/**
 * The executor's half of the handshake `hybridIK`. Use once: `readMessage1`, then `writeMessage2`, but only if the
 * harness's key is valid.
 */
export class ResponderHandshake {
  readonly #state: SymmetricState;
  readonly #identity: RelayIdentity;
  readonly #random: HandshakeRandomness;
  #harness: { readonly static: RelayPublicKey; readonly ephemeral: RelayPublicKey } | undefined;

  constructor(
    identity: RelayIdentity,
    binding: StreamBinding,
    random: HandshakeRandomness = { ephemeral: generateIdentity, encapsulate },
  ) {
    this.#identity = identity;
    this.#random = random;
    this.#state = startTranscript(identity.publicKey, binding);
  }

  /** Tokens skem, e, es, s, ss. Throws `protocol_violation` unless the harness holds the private X25519 key. */
  readMessage1(message: Uint8Array): HarnessClaim {
    const state = this.#state;
    try {
      const authorizationBytes = message.length - MESSAGE_1_BYTES;
      if (authorizationBytes < 0 || authorizationBytes > MAX_AUTHORIZATION_BYTES) throw wrongLength(1);
      const reader = new MessageReader(message);
      const toStatic = reader.take(MLKEM_CIPHERTEXT_BYTES);
      state.mixHash(toStatic);
      state.mixKeyAndHash(decapsulate(this.#identity.mlkem, toStatic));
      const ephemeral = readEphemeral(state, reader);
      state.mixKey(sharedSecret(this.#identity.x25519, ephemeral.x25519));
      const x25519 = state.decryptAndHash(reader.take(X25519_KEY_BYTES + AES_TAG_BYTES));
      const mlkem = state.decryptAndHash(reader.take(MLKEM_KEY_BYTES + AES_TAG_BYTES));
      const harnessKey = publicKeyFromBytes(x25519, mlkem);
      state.mixKey(sharedSecret(this.#identity.x25519, harnessKey.x25519));
      const authorization = decodeUtf8(state.decryptAndHash(reader.rest()));
      this.#harness = { static: harnessKey, ephemeral };
      return { harnessKey, authorization };
    } catch (error) {
      state.destroy();
      throw error;
    }
  }

  /** Tokens ekem, skem, e, ee, se, with an empty payload. */
  writeMessage2(): { readonly message: Buffer; readonly keys: StreamKeys } {
    const harness = this.#harness;
    if (!harness) throw new RelayError("protocol_violation", "Message 1 of the handshake was not read.");
    this.#harness = undefined;
    const state = this.#state;
    const own = this.#random.ephemeral();
    const toEphemeral = this.#random.encapsulate(harness.ephemeral.mlkem);
    state.mixHash(toEphemeral.ciphertext);
    state.mixKey(toEphemeral.sharedKey);
    const toStatic = this.#random.encapsulate(harness.static.mlkem);
    const sealed = state.encryptAndHash(toStatic.ciphertext);
    state.mixKeyAndHash(toStatic.sharedKey);
    const ephemeral = writeEphemeral(state, own);
    state.mixKey(sharedSecret(own.x25519, harness.ephemeral.x25519));
    state.mixKey(sharedSecret(own.x25519, harness.static.x25519));
    const message = Buffer.concat([
      toEphemeral.ciphertext,
      sealed,
      ...ephemeral,
      state.encryptAndHash(EMPTY),
    ]);
    const { fromInitiator, fromResponder } = state.split();
    return { message, keys: { send: fromResponder, receive: fromInitiator } };
  }

  /** Zeroes the keys of a handshake that is refused. */
  destroy(): void {
    this.#state.destroy();
    this.#harness = undefined;
  }
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RelayError("protocol_violation", "Received an authorization that is not UTF-8.");
  } finally {
    bytes.fill(0);
  }
}
