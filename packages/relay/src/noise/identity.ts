import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  timingSafeEqual,
} from "node:crypto";
import { z } from "zod";
import { RelayError } from "../errors.ts";

/** The suite in the JSON of a public key. The protocol name in the handshake is spelled differently. */
export const NOISE_SUITE = "Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256";

export const X25519_KEY_BYTES = 32;
export const MLKEM_KEY_BYTES = 1184;
const X25519_SEED_BYTES = 32;
const MLKEM_SEED_BYTES = 64;

/** DER of everything before the raw key: `node:crypto` reads these keys as SPKI and PKCS #8. */
const DER = {
  x25519Public: Buffer.from("302a300506032b656e032100", "hex"),
  x25519Private: Buffer.from("302e020100300506032b656e04220420", "hex"),
  mlkemPublic: Buffer.from("308204b2300b0609608648016503040402038204a100", "hex"),
  mlkemPrivate: Buffer.from("3054020100300b060960864801650304040204428040", "hex"),
};

/** A public key as the registry transports it. */
export interface PublicKeyJson {
  readonly suite: typeof NOISE_SUITE;
  readonly x25519_public_key: string;
  readonly mlkem768_public_key: string;
}

/** The public keys of one end: the raw bytes, and what `node:crypto` computes with. */
export interface RelayPublicKey {
  readonly x25519: KeyObject;
  readonly mlkem: KeyObject;
  readonly x25519Bytes: Buffer;
  readonly mlkemBytes: Buffer;
}

/** The key pairs of one end. An executor makes them once per process, a harness once per environment. */
export interface RelayIdentity {
  readonly publicKey: RelayPublicKey;
  readonly x25519: KeyObject;
  readonly mlkem: KeyObject;
}

/** The secrets that an identity is derived from. */
export interface IdentitySeeds {
  /** 32 bytes. */
  readonly x25519: Uint8Array;
  /** 64 bytes. */
  readonly mlkem: Uint8Array;
}

export function generateIdentity(): RelayIdentity {
  return toIdentity(generateKeyPairSync("x25519").privateKey, generateKeyPairSync("ml-kem-768").privateKey);
}

/** Restores an identity, so that an end keeps its public key across restarts. */
export function identityFromSeeds(seeds: IdentitySeeds): RelayIdentity {
  checkLength("X25519 seed", seeds.x25519, X25519_SEED_BYTES);
  checkLength("ML-KEM seed", seeds.mlkem, MLKEM_SEED_BYTES);
  return toIdentity(privateKey(DER.x25519Private, seeds.x25519), privateKey(DER.mlkemPrivate, seeds.mlkem));
}

/** Makes a public key from its raw bytes. Throws `protocol_violation` if they are no keys. */
export function publicKeyFromBytes(x25519Bytes: Uint8Array, mlkemBytes: Uint8Array): RelayPublicKey {
  checkLength("X25519 public key", x25519Bytes, X25519_KEY_BYTES);
  checkLength("ML-KEM public key", mlkemBytes, MLKEM_KEY_BYTES);
  return {
    x25519: publicKey(DER.x25519Public, x25519Bytes),
    mlkem: publicKey(DER.mlkemPublic, mlkemBytes),
    x25519Bytes: Buffer.from(x25519Bytes),
    mlkemBytes: Buffer.from(mlkemBytes),
  };
}

/** Base64 of exactly `bytes` bytes: standard alphabet, padded, without stray bits. */
const base64Of = (bytes: number) =>
  z.string().transform((text, context) => {
    const decoded = Buffer.from(text, "base64");
    if (decoded.length === bytes && decoded.toString("base64") === text) return decoded;
    context.addIssue({ code: "custom", message: `expected ${bytes} bytes in base64` });
    return z.NEVER;
  });

/** Parses a public key's JSON. Unknown suites, unknown members and other lengths are refused. */
export const publicKeySchema: z.ZodType<RelayPublicKey> = z
  .strictObject({
    suite: z.literal(NOISE_SUITE),
    x25519_public_key: base64Of(X25519_KEY_BYTES),
    mlkem768_public_key: base64Of(MLKEM_KEY_BYTES),
  })
  .transform((key, context) => {
    try {
      return publicKeyFromBytes(key.x25519_public_key, key.mlkem768_public_key);
    } catch {
      context.addIssue({ code: "custom", message: "expected a valid public key" });
      return z.NEVER;
    }
  });

export function toPublicKeyJson(key: RelayPublicKey): PublicKeyJson {
  return {
    suite: NOISE_SUITE,
    x25519_public_key: key.x25519Bytes.toString("base64"),
    mlkem768_public_key: key.mlkemBytes.toString("base64"),
  };
}

/** Compares in constant time. */
export function isSamePublicKey(a: RelayPublicKey, b: RelayPublicKey): boolean {
  // Both are always compared, so that the time does not depend on the first.
  const sameX25519 = timingSafeEqual(a.x25519Bytes, b.x25519Bytes);
  const sameMlkem = timingSafeEqual(a.mlkemBytes, b.mlkemBytes);
  return sameX25519 && sameMlkem;
}

function toIdentity(x25519: KeyObject, mlkem: KeyObject): RelayIdentity {
  const rawOf = (key: KeyObject, prefix: Buffer): Buffer =>
    createPublicKey(key).export({ format: "der", type: "spki" }).subarray(prefix.length);
  return {
    publicKey: publicKeyFromBytes(rawOf(x25519, DER.x25519Public), rawOf(mlkem, DER.mlkemPublic)),
    x25519,
    mlkem,
  };
}

function publicKey(prefix: Buffer, bytes: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.concat([prefix, bytes]), format: "der", type: "spki" });
  } catch {
    throw new RelayError("protocol_violation", "Received a malformed public key.");
  }
}

function privateKey(prefix: Buffer, seed: Uint8Array): KeyObject {
  const der = Buffer.concat([prefix, seed]);
  try {
    return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  } finally {
    der.fill(0);
  }
}

function checkLength(what: string, bytes: Uint8Array, expected: number): void {
  if (bytes.length === expected) return;
  throw new RelayError(
    "protocol_violation",
    `Expected an ${what} of ${expected} bytes, received ${bytes.length}.`,
  );
}
