import { gcm } from "@noble/ciphers/aes.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { expand, extract } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { ml_kem768 } from "@noble/post-quantum/ml-kem.js";

type Token = "skem" | "ekem" | "e" | "es" | "s" | "ss" | "ee" | "se";

/** The two messages of `hybridIK`. */
const MESSAGES: readonly (readonly Token[])[] = [
  ["skem", "e", "es", "s", "ss"],
  ["ekem", "skem", "e", "ee", "se"],
];

export interface NobleKeys {
  readonly x: Uint8Array;
  readonly xPublic: Uint8Array;
  readonly kem: Uint8Array;
  readonly kemPublic: Uint8Array;
}

export function nobleKeys(seeds: { x25519: Uint8Array; mlkem: Uint8Array }): NobleKeys {
  const kem = ml_kem768.keygen(seeds.mlkem);
  return {
    x: seeds.x25519,
    xPublic: x25519.getPublicKey(seeds.x25519),
    kem: kem.secretKey,
    kemPublic: kem.publicKey,
  };
}

/** What one end has learned of the other's keys. */
interface RemoteKeys {
  staticX?: Uint8Array;
  staticKem?: Uint8Array;
  ephemeralX?: Uint8Array;
  ephemeralKem?: Uint8Array;
}

export interface NobleOptions {
  readonly isInitiator: boolean;
  readonly own: NobleKeys;
  readonly ephemeral: NobleKeys;
  /** The responder's static keys, which both ends know. */
  readonly responder: { readonly xPublic: Uint8Array; readonly kemPublic: Uint8Array };
  readonly prologueParts: readonly string[];
}

/**
 * The handshake once more, on other libraries and by another method: a loop over the tokens of the pattern, after the Noise
 * specification. An oracle for tests: slow, and careless with secrets.
 */
export class NobleHandshake {
  readonly #options: NobleOptions;
  readonly #remote: RemoteKeys = {};
  #hash: Uint8Array;
  #chain: Uint8Array;
  #key: Uint8Array | undefined;
  #nonce = 0;
  #message = 0;

  constructor(options: NobleOptions) {
    this.#options = options;
    this.#hash = sha256(utf8ToBytes("Noise_hybridIK_25519+MLKEM768_AESGCM_SHA256"));
    this.#chain = this.#hash;
    this.#mixHash(
      concatBytes(
        ...options.prologueParts.flatMap((part) => {
          const bytes = utf8ToBytes(part);
          const length = new DataView(new ArrayBuffer(8));
          length.setBigUint64(0, BigInt(bytes.length));
          return [new Uint8Array(length.buffer), bytes];
        }),
      ),
    );
    this.#mixHash(options.responder.xPublic);
    this.#mixHash(options.responder.kemPublic);
    if (options.isInitiator) {
      this.#remote.staticX = options.responder.xPublic;
      this.#remote.staticKem = options.responder.kemPublic;
    }
  }

  write(payload: Uint8Array): Uint8Array {
    const { own, ephemeral } = this.#options;
    const out: Uint8Array[] = [];
    for (const token of MESSAGES[this.#message++] ?? []) {
      if (token === "e") {
        for (const key of [ephemeral.xPublic, ephemeral.kemPublic]) {
          out.push(key);
          this.#mixHash(key);
        }
      } else if (token === "s") out.push(this.#seal(own.xPublic), this.#seal(own.kemPublic));
      else if (token === "skem" || token === "ekem") {
        const target = token === "skem" ? this.#remote.staticKem : this.#remote.ephemeralKem;
        const { cipherText, sharedSecret } = ml_kem768.encapsulate(target ?? new Uint8Array());
        if (token === "ekem") this.#mixHash(cipherText);
        out.push(token === "ekem" ? cipherText : this.#seal(cipherText));
        this.#mixKem(token, sharedSecret);
      } else this.#mixDh(token);
    }
    out.push(this.#seal(payload));
    return concatBytes(...out);
  }

  read(message: Uint8Array): Uint8Array {
    const { own, ephemeral } = this.#options;
    let at = 0;
    const take = (bytes: number): Uint8Array => message.subarray(at, (at += bytes));
    for (const token of MESSAGES[this.#message++] ?? []) {
      const tag = this.#key ? 16 : 0;
      if (token === "e") {
        this.#remote.ephemeralX = take(32);
        this.#remote.ephemeralKem = take(1184);
        this.#mixHash(this.#remote.ephemeralX);
        this.#mixHash(this.#remote.ephemeralKem);
      } else if (token === "s") {
        this.#remote.staticX = this.#open(take(32 + tag));
        this.#remote.staticKem = this.#open(take(1184 + tag));
      } else if (token === "skem" || token === "ekem") {
        const secretKey = token === "skem" ? own.kem : ephemeral.kem;
        this.#mixKem(token, ml_kem768.decapsulate(this.#takeKem(token, take, tag), secretKey));
      } else this.#mixDh(token);
    }
    return this.#open(message.subarray(at));
  }

  /** The library that Codex uses encrypts a ciphertext for a static key, but not one for an ephemeral key. */
  #takeKem(token: "skem" | "ekem", take: (bytes: number) => Uint8Array, tag: number): Uint8Array {
    if (token === "skem") return this.#open(take(1088 + tag));
    const ciphertext = take(1088);
    this.#mixHash(ciphertext);
    return ciphertext;
  }

  get remoteStaticX(): Uint8Array | undefined {
    return this.#remote.staticX;
  }

  /** Keys of the initiator's and the responder's records. */
  split(): [Uint8Array, Uint8Array] {
    const [first = new Uint8Array(), second = new Uint8Array()] = this.#hkdf(new Uint8Array(), 2);
    return [first, second];
  }

  /** The first letter names the initiator's key, the second the responder's. */
  #mixDh(token: "es" | "ss" | "ee" | "se"): void {
    const { isInitiator, own, ephemeral } = this.#options;
    const [mine, theirs] = isInitiator ? [token[0], token[1]] : [token[1], token[0]];
    const secret = mine === "e" ? ephemeral.x : own.x;
    const point = theirs === "e" ? this.#remote.ephemeralX : this.#remote.staticX;
    const [chain, key] = this.#hkdf(x25519.getSharedSecret(secret, point ?? new Uint8Array()), 2);
    this.#setKey(chain, key);
  }

  #mixKem(token: "skem" | "ekem", secret: Uint8Array): void {
    if (token === "ekem") {
      const [chain, key] = this.#hkdf(secret, 2);
      this.#setKey(chain, key);
      return;
    }
    const [chain, hash, key] = this.#hkdf(secret, 3);
    this.#mixHash(hash ?? new Uint8Array());
    this.#setKey(chain, key);
  }

  #setKey(chain: Uint8Array | undefined, key: Uint8Array | undefined): void {
    this.#chain = chain ?? new Uint8Array();
    this.#key = key;
    this.#nonce = 0;
  }

  #mixHash(bytes: Uint8Array): void {
    this.#hash = sha256(concatBytes(this.#hash, bytes));
  }

  #hkdf(secret: Uint8Array, outputs: number): Uint8Array[] {
    const bytes = expand(sha256, extract(sha256, secret, this.#chain), new Uint8Array(), 32 * outputs);
    return Array.from({ length: outputs }, (_, i) => bytes.subarray(32 * i, 32 * (i + 1)));
  }

  #seal(bytes: Uint8Array): Uint8Array {
    const sealed = this.#key ? gcm(this.#key, nobleNonce(this.#nonce++), this.#hash).encrypt(bytes) : bytes;
    this.#mixHash(sealed);
    return sealed;
  }

  #open(bytes: Uint8Array): Uint8Array {
    const opened = this.#key ? gcm(this.#key, nobleNonce(this.#nonce++), this.#hash).decrypt(bytes) : bytes;
    this.#mixHash(bytes);
    return opened;
  }
}

export function nobleNonce(nonce: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(12));
  view.setBigUint64(4, BigInt(nonce));
  return new Uint8Array(view.buffer);
}
