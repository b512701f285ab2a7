import type { Framing } from "./message-writer.ts";

const FINAL = 0x80;
const TEXT = 0x01;
const CONTINUATION = 0x00;

/** A server's WebSocket frames: https://www.rfc-editor.org/rfc/rfc6455#section-5.2. A server does not mask. */
export const webSocketFraming: Framing = {
  head(bytes, first, last) {
    const opening = (last ? FINAL : 0) | (first ? TEXT : CONTINUATION);
    if (bytes < 126) return String.fromCharCode(opening, bytes);
    if (bytes < 65_536) return String.fromCharCode(opening, 126, bytes >>> 8, bytes & 255);
    // Frames are far below 4 GiB: the upper half of the 64-bit length is zero.
    const length = [bytes >>> 24, (bytes >>> 16) & 255, (bytes >>> 8) & 255, bytes & 255];
    return String.fromCharCode(opening, 127, 0, 0, 0, 0, ...length);
  },
  tail: "",
};

const CONTROL_OPCODES = { close: 0x8, ping: 0x9, pong: 0xa } as const;

/** A frame that is no part of a message, as bytes, one character each. */
export function controlFrame(kind: keyof typeof CONTROL_OPCODES, payload: Buffer): string {
  return String.fromCharCode(FINAL | CONTROL_OPCODES[kind], payload.length) + payload.toString("latin1");
}

/** One message a line. */
export const lineFraming: Framing = { head: () => "", tail: "\n" };
