import { createCipheriv, createDecipheriv, type KeyObject } from "node:crypto";
import { RelayError } from "../errors.ts";
import { countUsedBuffers } from "../used-buffers.ts";

const ALGORITHM = "aes-256-gcm";
const TAG = { authTagLength: 16 };

/** Bytes that encryption adds. */
export const AES_TAG_BYTES = TAG.authTagLength;

/** The largest Noise message. */
const NOISE_MESSAGE_BYTES = 65_535;

/** Noise's nonce for AES-GCM: four zero bytes, then the counter as a big-endian 64-bit number. */
function nonceBytes(nonce: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(Math.floor(nonce / 2 ** 32), 4);
  bytes.writeUInt32BE(nonce % 2 ** 32, 8);
  return bytes;
}

/** The largest 64-bit nonce, which Noise reserves for REKEY. */
const REKEY_NONCE = Buffer.concat([Buffer.alloc(4), Buffer.alloc(8, 0xff)]);

const ZEROS = Buffer.alloc(32);

/** Noise's REKEY: the key that follows a key, from which the earlier one can't be computed. */
export function nextKey(key: KeyObject): Buffer {
  return createCipheriv(ALGORITHM, key, REKEY_NONCE, TAG).update(ZEROS);
}

/** Encrypts into a new buffer with room for a header before the ciphertext, which is then followed by the tag. */
export function sealRecord(
  key: Buffer | KeyObject,
  nonce: number,
  plaintext: Uint8Array,
  associatedData?: Uint8Array,
  headerBytes = 0,
): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, nonceBytes(nonce), TAG);
  if (associatedData) cipher.setAAD(associatedData);
  const output = Buffer.allocUnsafeSlow(headerBytes + plaintext.length + AES_TAG_BYTES);
  output.set(cipher.update(plaintext), headerBytes);
  cipher.final();
  output.set(cipher.getAuthTag(), headerBytes + plaintext.length);
  // The ciphertext, its copy and, a moment later, the plaintext.
  countUsedBuffers(3 * plaintext.length);
  return output;
}

/** Decrypts and verifies. Throws a `protocol_violation` without any detail for everything that is not authentic. */
export function openRecord(
  key: Buffer | KeyObject,
  nonce: number,
  data: Uint8Array,
  associatedData?: Uint8Array,
): Buffer {
  const length = data.length - AES_TAG_BYTES;
  if (length < 0 || data.length > NOISE_MESSAGE_BYTES) throw notAuthentic();
  const decipher = createDecipheriv(ALGORITHM, key, nonceBytes(nonce), TAG);
  if (associatedData) decipher.setAAD(associatedData);
  decipher.setAuthTag(data.subarray(length));
  const plaintext = decipher.update(data.subarray(0, length));
  try {
    decipher.final();
  } catch {
    plaintext.fill(0);
    throw notAuthentic();
  }
  // About five buffers per record: the received bytes, their parts, the plaintext, and the messages that the reader creates from
  // it.
  countUsedBuffers(5 * plaintext.length);
  return plaintext;
}

function notAuthentic(): RelayError {
  return new RelayError(
    "protocol_violation",
    "Received encrypted data that does not match the keys of this stream.",
  );
}
