import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { HandshakeVector, RecordedFrame } from "./vectors.ts";
import { DataFrameEncoder } from "../src/frames/data-frame-encoder.ts";
import { decodeFrame } from "../src/frames/decode-frame.ts";
import { identityFromSeeds, publicKeySchema, toPublicKeyJson } from "../src/noise/identity.ts";
import { InitiatorHandshake } from "../src/noise/initiator.ts";
import { ResponderHandshake } from "../src/noise/responder.ts";
import type { HandshakeRandomness, StreamKeys } from "../src/noise/transcript.ts";

const vectors = JSON.parse(
  readFileSync(new URL("./vectors.json", import.meta.url), "utf8"),
) as HandshakeVector[];

const bytes = (base64: string): Buffer => Buffer.from(base64, "base64");

function seedsOf(seeds: { readonly x25519: string; readonly mlkem: string }) {
  return { x25519: bytes(seeds.x25519), mlkem: bytes(seeds.mlkem) };
}

/** The random choices of our end, as they were in the recording. */
function recordedRandomness(vector: HandshakeVector): HandshakeRandomness {
  const encapsulations = vector.encapsulations.values();
  return {
    ephemeral: () => identityFromSeeds(seedsOf(vector.ephemeral)),
    encapsulate: () => {
      const { value } = encapsulations.next();
      if (!value) throw new Error("The recording has no further encapsulation.");
      return { ciphertext: bytes(value.ciphertext), sharedKey: bytes(value.sharedKey) };
    },
  };
}

/** Encrypts what our end sent, and decrypts what Codex sent. */
function expectRecords(vector: HandshakeVector, keys: StreamKeys): void {
  const encoder = new DataFrameEncoder(vector.streamId);
  for (const [seq, { frame, plaintext }] of vector.sent.entries()) {
    const header = { ack: 0, ackBits: 0, seq, segmentIndex: 0, segmentCount: 1 };
    const payloadBytes = bytes(plaintext).length + 16;
    const sealed = keys.send.encrypt(bytes(plaintext), encoder.headerBytes(header, payloadBytes));
    encoder.writeHeader(sealed, header, payloadBytes);
    expect(sealed.toString("base64")).toBe(frame);
  }
  for (const [seq, record] of vector.received.entries()) expectReceived(record, seq, keys);
}

function expectReceived({ frame, plaintext }: RecordedFrame, seq: number, keys: StreamKeys): void {
  const { body } = decodeFrame(bytes(frame));
  expect(body).toMatchObject({ kind: "data", seq, segmentIndex: 0, segmentCount: 1 });
  if (body.kind === "data")
    expect(keys.receive.decrypt(seq, body.payload).toString("base64")).toBe(plaintext);
}

describe("a handshake recorded with the real codex", () => {
  it("as executor is reproduced byte by byte", () => {
    const vector = vectors.find(({ codex }) => codex === "executor") as HandshakeVector;
    const executorKey = publicKeySchema.parse(vector.remoteKey);
    const identity = identityFromSeeds(seedsOf(vector.identity));
    const handshake = new InitiatorHandshake(identity, executorKey, vector, recordedRandomness(vector));
    expect(handshake.writeMessage1(vector.authorization).toString("base64")).toBe(vector.message1);
    expectRecords(vector, handshake.readMessage2(bytes(vector.message2)));
  });

  it("as harness is reproduced byte by byte", () => {
    const vector = vectors.find(({ codex }) => codex === "harness") as HandshakeVector;
    const identity = identityFromSeeds(seedsOf(vector.identity));
    const handshake = new ResponderHandshake(identity, vector, recordedRandomness(vector));
    const claim = handshake.readMessage1(bytes(vector.message1));
    expect(claim.authorization).toBe(vector.authorization);
    expect(toPublicKeyJson(claim.harnessKey)).toEqual(vector.remoteKey);
    const { message, keys } = handshake.writeMessage2();
    expect(message.toString("base64")).toBe(vector.message2);
    expectRecords(vector, keys);
  });
});
