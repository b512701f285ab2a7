import { decapsulate, encapsulate } from "node:crypto";
import { RelayError } from "../errors.ts";
import { AES_TAG_BYTES } from "./aes-gcm.ts";
import {
  generateIdentity,
  MLKEM_KEY_BYTES,
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

const MESSAGE_2_BYTES = 2 * MLKEM_CIPHERTEXT_BYTES + X25519_KEY_BYTES + MLKEM_KEY_BYTES + 2 * AES_TAG_BYTES;

/** The harness's half of the handshake `hybridIK`. Use once: `writeMessage1`, then `readMessage2`. */
export class InitiatorHandshake {
  readonly #state: SymmetricState;
  readonly #identity: RelayIdentity;
  readonly #executor: RelayPublicKey;
  readonly #random: HandshakeRandomness;
  /** Undefined after the handshake, because the keys of the stream can be computed from it. */
  #ephemeral: RelayIdentity | undefined;

  constructor(
    identity: RelayIdentity,
    executor: RelayPublicKey,
    binding: StreamBinding,
    random: HandshakeRandomness = { ephemeral: generateIdentity, encapsulate },
  ) {
    this.#identity = identity;
    this.#executor = executor;
    this.#random = random;
    this.#ephemeral = random.ephemeral();
    this.#state = startTranscript(executor, binding);
  }

  /** Tokens skem, e, es, s, ss. The harness's keys and the authorization are encrypted for the executor alone. */
  writeMessage1(authorization: string): Buffer {
    const payload = Buffer.from(authorization);
    if (payload.length > MAX_AUTHORIZATION_BYTES) {
      throw new RelayError(
        "limit",
        `The authorization has ${payload.length} bytes; the limit is ${MAX_AUTHORIZATION_BYTES}.`,
      );
    }
    const state = this.#state;
    const { publicKey, x25519 } = this.#identity;
    const toStatic = this.#random.encapsulate(this.#executor.mlkem);
    const ciphertext = state.encryptAndHash(toStatic.ciphertext);
    state.mixKeyAndHash(toStatic.sharedKey);
    const own = this.#requireEphemeral();
    const ephemeral = writeEphemeral(state, own);
    state.mixKey(sharedSecret(own.x25519, this.#executor.x25519));
    const keys = [state.encryptAndHash(publicKey.x25519Bytes), state.encryptAndHash(publicKey.mlkemBytes)];
    state.mixKey(sharedSecret(x25519, this.#executor.x25519));
    const message = Buffer.concat([ciphertext, ...ephemeral, ...keys, state.encryptAndHash(payload)]);
    payload.fill(0);
    return message;
  }

  /** Tokens ekem, skem, e, ee, se. Throws `protocol_violation` unless the executor holds its private keys. */
  readMessage2(message: Uint8Array): StreamKeys {
    const state = this.#state;
    try {
      if (message.length !== MESSAGE_2_BYTES) throw wrongLength(2);
      const own = this.#requireEphemeral();
      const reader = new MessageReader(message);
      const toEphemeral = reader.take(MLKEM_CIPHERTEXT_BYTES);
      state.mixHash(toEphemeral);
      state.mixKey(decapsulate(own.mlkem, toEphemeral));
      const toStatic = state.decryptAndHash(reader.take(MLKEM_CIPHERTEXT_BYTES + AES_TAG_BYTES));
      state.mixKeyAndHash(decapsulate(this.#identity.mlkem, toStatic));
      const ephemeral = readEphemeral(state, reader);
      state.mixKey(sharedSecret(own.x25519, ephemeral.x25519));
      state.mixKey(sharedSecret(this.#identity.x25519, ephemeral.x25519));
      state.decryptAndHash(reader.rest());
      const { fromInitiator, fromResponder } = state.split();
      return { send: fromInitiator, receive: fromResponder };
    } finally {
      this.destroy();
    }
  }

  /** Zeroes the keys of a handshake that does not complete, and drops its ephemeral private keys. */
  destroy(): void {
    this.#state.destroy();
    this.#ephemeral = undefined;
  }

  #requireEphemeral(): RelayIdentity {
    if (this.#ephemeral) return this.#ephemeral;
    throw new RelayError("protocol_violation", "The handshake has already ended.");
  }
}
