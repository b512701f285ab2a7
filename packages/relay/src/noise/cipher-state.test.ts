import { gcm } from "@noble/ciphers/aes.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nobleNonce } from "../../test/noble-handshake.ts";
import { RelayError } from "../errors.ts";
import { CipherState, MAX_NONCE } from "./cipher-state.ts";

const key = (): Buffer => Buffer.alloc(32, 7);

describe("a cipher state", () => {
  it("numbers records, and leaves room for a header", () => {
    const [send, receive] = [new CipherState(key()), new CipherState(key())];
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 2000 }),
        fc.nat(40),
        fc.uint8Array({ maxLength: 8 }),
        (text, room, aad) => {
          const nonce = send.nextNonce;
          const record = send.encrypt(text, room, aad).subarray(room);
          expect(record).toHaveLength(text.length + 16);
          expect(receive.decrypt(nonce, record, aad)).toEqual(Buffer.from(text));
          expect(() => receive.decrypt(nonce + 1, record, aad)).toThrow(RelayError);
          expect(() => receive.decrypt(nonce, record, Buffer.concat([aad, Buffer.alloc(1)]))).toThrow(
            RelayError,
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  it("refuses data that is shorter than a tag or longer than a Noise message", () => {
    const receive = new CipherState(key());
    expect(() => receive.decrypt(0, Buffer.alloc(15))).toThrow("does not match the keys");
    expect(() => receive.decrypt(0, Buffer.alloc(65_536))).toThrow("does not match the keys");
  });

  it("uses no nonce beyond 32 bits", () => {
    const receive = new CipherState(key());
    expect(() => receive.decrypt(MAX_NONCE + 1, Buffer.alloc(16))).toThrow(
      expect.objectContaining({ code: "limit" }),
    );
    expect(() => receive.decrypt(MAX_NONCE, Buffer.alloc(16))).toThrow(
      expect.objectContaining({ code: "protocol_violation" }),
    );
  });

  it("encrypts with the last nonce, and with none after it", () => {
    const send = new CipherState(key(), MAX_NONCE);
    const record = send.encrypt(Buffer.from("last"));
    expect(new CipherState(key()).decrypt(MAX_NONCE, record).toString()).toBe("last");
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(() => send.encrypt(Buffer.from("more"))).toThrow(expect.objectContaining({ code: "limit" }));
    }
  });

  it("replaces its key at each multiple of a number of records, as Noise's REKEY does", () => {
    const [send, receive] = [new CipherState(key()), new CipherState(key())];
    for (const state of [send, receive]) state.rekeyEvery(3);
    // An independent implementation.
    const keys = [new Uint8Array(key())];
    const rekeyNonce = new Uint8Array(12).fill(0xff, 4);
    for (let index = 0; index < 2; index++) {
      keys.push(
        gcm(keys[index] as Uint8Array, rekeyNonce)
          .encrypt(new Uint8Array(32))
          .slice(0, 32),
      );
    }
    for (let nonce = 0; nonce < 9; nonce++) {
      const record = send.encrypt(Buffer.from("text"));
      const expected = gcm(keys[Math.floor(nonce / 3)] as Uint8Array, nobleNonce(nonce));
      expect(Buffer.from(expected.decrypt(record)).toString()).toBe("text");
      expect(receive.decrypt(nonce, record).toString()).toBe("text");
    }
  });

  it("zeroes the bytes that it got, and refuses to work after its end", () => {
    const bytes = key();
    const state = new CipherState(bytes);
    expect(bytes.every((byte) => byte === 0)).toBe(true);
    state.destroy();
    expect(() => state.encrypt(Buffer.from("x"))).toThrow(expect.objectContaining({ code: "disconnected" }));
    expect(() => state.decrypt(0, Buffer.alloc(16))).toThrow(
      expect.objectContaining({ code: "disconnected" }),
    );
  });
});
