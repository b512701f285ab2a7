import { diffieHellman, type KeyObject } from "node:crypto";
import { RelayError } from "../errors.ts";
import type { CipherState } from "./cipher-state.ts";
import {
  MLKEM_KEY_BYTES,
  publicKeyFromBytes,
  type RelayIdentity,
  type RelayPublicKey,
  X25519_KEY_BYTES,
} from "./identity.ts";
import { SymmetricState } from "./symmetric-state.ts";

/** Hashed into the transcript. It says `25519` where the suite of a public key says `X25519`. */
const PROTOCOL_NAME = "Noise_hybridIK_25519+MLKEM768_AESGCM_SHA256";

const PROLOGUE_LABEL = "codex-exec-server-relay-noise/v1";

export const MLKEM_CIPHERTEXT_BYTES = 1088;

/** Largest authorization in message 1, in bytes of UTF-8. */
export const MAX_AUTHORIZATION_BYTES = 4096;

/** What both ends must agree on before the handshake: a stream of one environment and one registration. */
export interface StreamBinding {
  readonly environmentId: string;
  readonly registrationId: string;
  readonly streamId: string;
}

/** The keys of an established stream, as one end uses them. */
export interface StreamKeys {
  readonly send: CipherState;
  readonly receive: CipherState;
}

/** The random parts of a handshake. Tests replace them to reproduce a recorded one. */
export interface HandshakeRandomness {
  ephemeral(): RelayIdentity;
  encapsulate(key: KeyObject): { readonly ciphertext: Buffer; readonly sharedKey: Buffer };
}

/** Both ends start with the prologue and the executor's static keys, which the harness knows from the registry. */
export function startTranscript(executor: RelayPublicKey, binding: StreamBinding): SymmetricState {
  const state = new SymmetricState(PROTOCOL_NAME);
  state.mixHash(encodePrologue(binding));
  state.mixHash(executor.x25519Bytes);
  state.mixHash(executor.mlkemBytes);
  return state;
}

/** Each part is preceded by its length as a big-endian 64-bit number, so that no two bindings share an encoding. */
function encodePrologue({ environmentId, registrationId, streamId }: StreamBinding): Buffer {
  const parts = [PROLOGUE_LABEL, environmentId, registrationId, streamId].map((text) => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(8);
    length.writeUInt32BE(bytes.length, 4);
    return Buffer.concat([length, bytes]);
  });
  return Buffer.concat(parts);
}

/** Token `e`: both ephemeral keys, in clear. */
export function writeEphemeral(state: SymmetricState, { publicKey }: RelayIdentity): Buffer[] {
  state.mixHash(publicKey.x25519Bytes);
  state.mixHash(publicKey.mlkemBytes);
  return [publicKey.x25519Bytes, publicKey.mlkemBytes];
}

export function readEphemeral(state: SymmetricState, message: MessageReader): RelayPublicKey {
  const x25519 = message.take(X25519_KEY_BYTES);
  const mlkem = message.take(MLKEM_KEY_BYTES);
  state.mixHash(x25519);
  state.mixHash(mlkem);
  return publicKeyFromBytes(x25519, mlkem);
}

/** X25519. Refuses low-order points, with which the shared secret would be all zeros. */
export function sharedSecret(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  let secret: Buffer | undefined;
  try {
    secret = diffieHellman({ privateKey, publicKey });
  } catch {
    // OpenSSL refuses low-order points itself. The check below does not rely on it.
  }
  if (!secret || secret.every((byte) => byte === 0)) {
    throw new RelayError("protocol_violation", "Received a weak X25519 public key.");
  }
  return secret;
}

/** The consecutive fields of a handshake message, whose total length the caller has checked. */
export class MessageReader {
  readonly #message: Uint8Array;
  #position = 0;

  constructor(message: Uint8Array) {
    this.#message = message;
  }

  take(bytes: number): Uint8Array {
    const field = this.#message.subarray(this.#position, this.#position + bytes);
    this.#position += bytes;
    return field;
  }

  rest(): Uint8Array {
    return this.#message.subarray(this.#position);
  }
}

export function wrongLength(message: 1 | 2): RelayError {
  return new RelayError(
    "protocol_violation",
    `Received message ${message} of a handshake with a wrong length.`,
  );
}
