import { gcm } from "@noble/ciphers/aes.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encapsulate, randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { NobleHandshake, nobleKeys, nobleNonce } from "./noble-handshake.ts";
import { RelayError } from "../src/errors.ts";
import { generateIdentity, identityFromSeeds, type RelayIdentity } from "../src/noise/identity.ts";
import { InitiatorHandshake } from "../src/noise/initiator.ts";
import { exposedGc } from "./exposed-gc.ts";
import { ResponderHandshake } from "../src/noise/responder.ts";
import type { StreamBinding } from "../src/noise/transcript.ts";

const BINDING: StreamBinding = { environmentId: "env", registrationId: "registration", streamId: "stream" };
const EXECUTOR = generateIdentity();
const HARNESS = generateIdentity();
const AUTHORIZATION = "the-secret-authorization";

const makeSeeds = () => ({ x25519: randomBytes(32), mlkem: randomBytes(64) });

function initiator(binding = BINDING, executor = EXECUTOR, harness = HARNESS): InitiatorHandshake {
  return new InitiatorHandshake(harness, executor.publicKey, binding);
}

function responder(binding = BINDING, executor: RelayIdentity = EXECUTOR): ResponderHandshake {
  return new ResponderHandshake(executor, binding);
}

/** What a handshake throws, with the check that its text has nothing secret. */
function violationOf(run: () => unknown): RelayError {
  const error = thrownBy(run);
  expect(error).toBeInstanceOf(RelayError);
  expect(String((error as Error).stack)).not.toContain(AUTHORIZATION);
  return error as RelayError;
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("The handshake was accepted.");
}

const prologueParts = (binding: StreamBinding): string[] => [
  "codex-exec-server-relay-noise/v1",
  binding.environmentId,
  binding.registrationId,
  binding.streamId,
];

describe("both ends", () => {
  it("agree on keys, and the executor learns the harness's key and authorization first", () => {
    const [near, far] = [initiator(), responder()];
    const claim = far.readMessage1(near.writeMessage1(AUTHORIZATION));
    expect(claim.authorization).toBe(AUTHORIZATION);
    expect(claim.harnessKey.mlkemBytes).toEqual(HARNESS.publicKey.mlkemBytes);
    const { message, keys } = far.writeMessage2();
    const nearKeys = near.readMessage2(message);
    for (const text of ["one", "two"]) {
      const seq = keys.send.nextNonce;
      expect(nearKeys.receive.decrypt(seq, keys.send.encrypt(Buffer.from(text))).toString()).toBe(text);
      expect(keys.receive.decrypt(seq, nearKeys.send.encrypt(Buffer.from(text))).toString()).toBe(text);
    }
  });

  it("accept any authorization up to 4096 bytes of UTF-8", () => {
    const texts = fc.oneof(fc.string({ unit: "grapheme", maxLength: 200 }), fc.constant("x".repeat(4096)));
    fc.assert(
      fc.property(texts, (text) => {
        expect(responder().readMessage1(initiator().writeMessage1(text)).authorization).toBe(text);
      }),
      { numRuns: 20 },
    );
    expect(violationOf(() => initiator().writeMessage1("x".repeat(4097))).code).toBe("limit");
  });

  it.each(["completed", "was given up"])(
    "keep no ephemeral private key after a handshake that %s",
    async (end) => {
      const near = (() => {
        const keys = [generateIdentity()];
        const reference = new WeakRef((keys[0] as RelayIdentity).x25519);
        const random = { ephemeral: () => keys.pop() as RelayIdentity, encapsulate };
        return { reference, handshake: new InitiatorHandshake(HARNESS, EXECUTOR.publicKey, BINDING, random) };
      })();
      const far = responder();
      far.readMessage1(near.handshake.writeMessage1(AUTHORIZATION));
      if (end === "completed") near.handshake.readMessage2(far.writeMessage2().message);
      else near.handshake.destroy();
      // A weak reference keeps its object until the end of the turn in which it was created.
      await nextTurn();
      exposedGc()();
      expect(near.reference.deref()).toBeUndefined();
      expect(violationOf(() => near.handshake.writeMessage1(AUTHORIZATION)).code).toBe("protocol_violation");
    },
  );

  it("refuse to answer a message that was not read", () => {
    expect(violationOf(() => responder().writeMessage2()).code).toBe("protocol_violation");
    const far = responder();
    far.readMessage1(initiator().writeMessage1(""));
    far.writeMessage2();
    expect(violationOf(() => far.writeMessage2()).code).toBe("protocol_violation");
  });
});

describe("an independent implementation", () => {
  it("as harness completes a handshake with our executor", () => {
    const [own, executor] = [makeSeeds(), makeSeeds()];
    const oracle = new NobleHandshake({
      isInitiator: true,
      own: nobleKeys(own),
      ephemeral: nobleKeys(makeSeeds()),
      responder: nobleKeys(executor),
      prologueParts: prologueParts(BINDING),
    });
    const far = responder(BINDING, identityFromSeeds(executor));
    const claim = far.readMessage1(oracle.write(Buffer.from(AUTHORIZATION)));
    expect(claim.authorization).toBe(AUTHORIZATION);
    expect(claim.harnessKey.x25519Bytes).toEqual(Buffer.from(nobleKeys(own).xPublic));
    const { message, keys } = far.writeMessage2();
    expect(oracle.read(message)).toHaveLength(0);
    const [sendKey, receiveKey] = oracle.split();
    const record = keys.send.encrypt(Buffer.from("from ours"));
    expect(Buffer.from(gcm(receiveKey, nobleNonce(0)).decrypt(record)).toString()).toBe("from ours");
    const theirs = gcm(sendKey, nobleNonce(2 ** 32 - 1)).encrypt(Buffer.from("to ours"));
    expect(keys.receive.decrypt(2 ** 32 - 1, theirs).toString()).toBe("to ours");
  });

  it("as executor completes a handshake with our harness", () => {
    const executor = makeSeeds();
    const oracle = new NobleHandshake({
      isInitiator: false,
      own: nobleKeys(executor),
      ephemeral: nobleKeys(makeSeeds()),
      responder: nobleKeys(executor),
      prologueParts: prologueParts(BINDING),
    });
    const near = initiator(BINDING, identityFromSeeds(executor));
    expect(Buffer.from(oracle.read(near.writeMessage1(AUTHORIZATION))).toString()).toBe(AUTHORIZATION);
    expect(oracle.remoteStaticX).toEqual(new Uint8Array(HARNESS.publicKey.x25519Bytes));
    const keys = near.readMessage2(oracle.write(new Uint8Array()));
    const [receiveKey] = oracle.split();
    const record = keys.send.encrypt(Buffer.from("hello"));
    expect(Buffer.from(gcm(receiveKey, nobleNonce(0)).decrypt(record)).toString()).toBe("hello");
  });
});

describe("a handshake is refused", () => {
  it.each(["environmentId", "registrationId", "streamId"] as const)("with another %s", (part) => {
    const other = responder({ ...BINDING, [part]: "other" });
    expect(violationOf(() => other.readMessage1(initiator().writeMessage1(AUTHORIZATION))).code).toBe(
      "protocol_violation",
    );
  });

  it("when the parts of the prologue are moved across their boundary", () => {
    const near = initiator({ environmentId: "ab", registrationId: "c", streamId: "d" });
    const far = responder({ environmentId: "a", registrationId: "bc", streamId: "d" });
    expect(violationOf(() => far.readMessage1(near.writeMessage1(""))).code).toBe("protocol_violation");
  });

  it("by an executor with other keys, even if only one of the two differs", () => {
    const other = generateIdentity();
    const mixes = [other, { ...EXECUTOR, mlkem: other.mlkem }, { ...EXECUTOR, x25519: other.x25519 }];
    for (const mix of mixes) {
      const far = responder(BINDING, { ...mix, publicKey: EXECUTOR.publicKey });
      const message = initiator().writeMessage1(AUTHORIZATION);
      expect(violationOf(() => far.readMessage1(message)).code).toBe("protocol_violation");
    }
  });

  it("by a harness that reached an executor which knows only its public key", () => {
    const impostor = generateIdentity();
    const far = responder(BINDING, impostor);
    far.readMessage1(initiator(BINDING, impostor).writeMessage1(""));
    const { message } = far.writeMessage2();
    const near = initiator();
    near.writeMessage1("");
    expect(violationOf(() => near.readMessage2(message)).code).toBe("protocol_violation");
  });

  it("by a harness without the private keys of the public key that it claims", () => {
    const other = generateIdentity();
    const thief = { ...other, publicKey: HARNESS.publicKey };
    const near = initiator(BINDING, EXECUTOR, thief);
    expect(violationOf(() => responder().readMessage1(near.writeMessage1(""))).code).toBe(
      "protocol_violation",
    );
    // The X25519 key alone convinces the executor at first, but it can't read message 2.
    const half = initiator(BINDING, EXECUTOR, { ...HARNESS, mlkem: other.mlkem });
    const far = responder();
    far.readMessage1(half.writeMessage1(""));
    expect(violationOf(() => half.readMessage2(far.writeMessage2().message)).code).toBe("protocol_violation");
  });

  it("when any bit of either message changes", () => {
    const near = initiator();
    const message1 = near.writeMessage1(AUTHORIZATION);
    const bit = fc.record({ at: fc.nat(), mask: fc.integer({ min: 1, max: 255 }) });
    fc.assert(
      fc.property(bit, ({ at, mask }) => {
        const tampered = Buffer.from(message1);
        tampered[at % tampered.length] = (tampered[at % tampered.length] ?? 0) ^ mask;
        expect(violationOf(() => responder().readMessage1(tampered)).code).toBe("protocol_violation");
        const far = responder();
        const other = initiator();
        far.readMessage1(other.writeMessage1(""));
        const { message } = far.writeMessage2();
        message[at % message.length] = (message[at % message.length] ?? 0) ^ mask;
        expect(violationOf(() => other.readMessage2(message)).code).toBe("protocol_violation");
      }),
      // The ends of all fields, whatever the random ones hit.
      { numRuns: 30, examples: REGIONS.map((at) => [{ at, mask: 0x80 }]) },
    );
  });

  it("when it is truncated, extended or replayed to another stream", () => {
    const message = initiator().writeMessage1(AUTHORIZATION);
    for (const length of [0, 1, 3567, message.length - 1]) {
      expect(violationOf(() => responder().readMessage1(message.subarray(0, length))).code).toBe(
        "protocol_violation",
      );
    }
    const longer = Buffer.concat([message, Buffer.alloc(1)]);
    expect(violationOf(() => responder().readMessage1(longer)).code).toBe("protocol_violation");
    const tooLong = Buffer.concat([message, Buffer.alloc(5000)]);
    expect(violationOf(() => responder().readMessage1(tooLong)).code).toBe("protocol_violation");
    const replay = responder({ ...BINDING, streamId: "another" });
    expect(violationOf(() => replay.readMessage1(message)).code).toBe("protocol_violation");
    const near = initiator();
    near.writeMessage1("");
    expect(violationOf(() => near.readMessage2(Buffer.alloc(3423))).code).toBe("protocol_violation");
  });
});

/** Offsets of the first and last byte of each field of message 1. The tampered bytes of message 2 are near them. */
const REGIONS = [0, 1087, 1088, 1119, 1120, 2303, 2304, 2351, 2352, 3551, 3552, 3567, 3568];
