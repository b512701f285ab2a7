import type { PublicKeyJson } from "../src/noise/identity.ts";

/** A handshake with the real `codex`, recorded by `scripts/record-vectors.ts`. Byte strings are base64. */
export interface HandshakeVector {
  /** Which end Codex was. The other end is ours, and its secrets are below. */
  readonly codex: "executor" | "harness";
  readonly environmentId: string;
  readonly registrationId: string;
  readonly streamId: string;
  readonly authorization: string;
  /** Our static keys, made for the recording. */
  readonly identity: { readonly x25519: string; readonly mlkem: string };
  /** Our ephemeral keys and encapsulations, in the order of their use. */
  readonly ephemeral: { readonly x25519: string; readonly mlkem: string };
  readonly encapsulations: readonly { readonly ciphertext: string; readonly sharedKey: string }[];
  /** Codex's public key. */
  readonly remoteKey: PublicKeyJson;
  readonly message1: string;
  readonly message2: string;
  /** Frames of the established stream, and their plaintext. */
  readonly sent: readonly RecordedFrame[];
  readonly received: readonly RecordedFrame[];
}

export interface RecordedFrame {
  readonly frame: string;
  readonly plaintext: string;
}
