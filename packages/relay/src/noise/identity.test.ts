import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { LOW_ORDER_POINTS } from "../../test/low-order-points.ts";
import { RelayError } from "../errors.ts";
import {
  generateIdentity,
  identityFromSeeds,
  isSamePublicKey,
  publicKeyFromBytes,
  publicKeySchema,
  toPublicKeyJson,
} from "./identity.ts";
import { sharedSecret } from "./transcript.ts";

const IDENTITY = generateIdentity();
const JSON_KEY = toPublicKeyJson(IDENTITY.publicKey);

describe("the JSON of a public key", () => {
  it("round-trips", () => {
    const parsed = publicKeySchema.parse(JSON_KEY);
    expect(isSamePublicKey(parsed, IDENTITY.publicKey)).toBe(true);
    expect(isSamePublicKey(parsed, generateIdentity().publicKey)).toBe(false);
    expect(toPublicKeyJson(parsed)).toEqual(JSON_KEY);
  });

  const x = JSON_KEY.x25519_public_key;
  const kem = JSON_KEY.mlkem768_public_key;
  it.each([
    ["an unknown suite", { ...JSON_KEY, suite: "Noise_hybridIK_25519+MLKEM768_AESGCM_SHA256" }],
    ["an unknown member", { ...JSON_KEY, extra: 1 }],
    ["a missing member", { suite: JSON_KEY.suite, x25519_public_key: x }],
    ["a short key", { ...JSON_KEY, x25519_public_key: Buffer.alloc(31).toString("base64") }],
    ["a long key", { ...JSON_KEY, mlkem768_public_key: Buffer.alloc(1185).toString("base64") }],
    ["base64 without padding", { ...JSON_KEY, x25519_public_key: x.replace("=", "") }],
    [
      "base64 with a line break",
      { ...JSON_KEY, mlkem768_public_key: `${kem.slice(0, 64)}\n${kem.slice(64)}` },
    ],
    ["the URL alphabet", { ...JSON_KEY, x25519_public_key: `${"_".repeat(42)}8=` }],
    [
      "an ML-KEM key with coefficients above the modulus",
      { ...JSON_KEY, mlkem768_public_key: Buffer.alloc(1184, 255).toString("base64") },
    ],
    ["no object", x],
  ])("is refused with %s", (_what, value) => {
    expect(publicKeySchema.safeParse(value).success).toBe(false);
  });
});

describe("an identity", () => {
  it("has the same public key whenever it is restored", () => {
    const seeds = { x25519: randomBytes(32), mlkem: randomBytes(64) };
    const [first, second] = [identityFromSeeds(seeds), identityFromSeeds(seeds)];
    expect(isSamePublicKey(first.publicKey, second.publicKey)).toBe(true);
    expect(() => identityFromSeeds({ ...seeds, mlkem: randomBytes(32) })).toThrow(RelayError);
  });

  it("never prints its private keys", () => {
    const seeds = { x25519: Buffer.alloc(32, "s3cret"), mlkem: Buffer.alloc(64, "s3cret") };
    expect(JSON.stringify(identityFromSeeds(seeds).x25519)).toBe("{}");
  });
});

describe("a low-order X25519 point", () => {
  it.each(LOW_ORDER_POINTS)("%s is refused", (point) => {
    const key = publicKeyFromBytes(Buffer.from(point, "hex"), IDENTITY.publicKey.mlkemBytes);
    expect(() => sharedSecret(IDENTITY.x25519, key.x25519)).toThrow("weak X25519 public key");
  });
});
