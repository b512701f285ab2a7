import { EXEC_LIMITS } from "../limits.ts";

/** What a client's frames amount to. */
export interface FrameListener {
  /** A whole message, text or binary alike. The buffer is the listener's own. */
  message(bytes: Buffer): void;
  ping(payload: Buffer): void;
  /** The client says goodbye. */
  close(): void;
}

const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** The longest header: two bytes, eight of length, four of mask. */
const HEADER_BYTES = 14;

interface Frame {
  readonly final: boolean;
  readonly opcode: number;
  readonly mask: Buffer | undefined;
  readonly payload: Buffer;
  filled: number;
}

/**
 * Reads the frames of a WebSocket client: https://www.rfc-editor.org/rfc/rfc6455#section-5.2. The length of a frame
 * stands before it, so that a message of megabytes is put in its place as it comes, instead of being joined from hundreds of
 * pieces when it is there. Throws when the protocol is broken or a limit is met.
 */
export class FrameReader {
  readonly #listener: FrameListener;
  readonly #maxBytes: number;
  #header = Buffer.alloc(0);
  #frame: Frame | undefined;
  #fragments: Buffer[] = [];
  #fragmentBytes = 0;

  constructor(listener: FrameListener, maxBytes: number = EXEC_LIMITS.messageBytes) {
    this.#listener = listener;
    this.#maxBytes = maxBytes;
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length || this.#isReady) {
      const frame = this.#frame;
      if (!frame) {
        const taken = this.#readHeader(bytes, at);
        if (taken === undefined) return;
        at += taken;
        continue;
      }
      const count = Math.min(frame.payload.length - frame.filled, bytes.length - at);
      bytes.copy(frame.payload, frame.filled, at, at + count);
      if (frame.mask) unmask(frame.payload, frame.filled, frame.filled + count, frame.mask);
      frame.filled += count;
      at += count;
      if (this.#isReady) this.#finish(frame);
    }
  }

  get #isReady(): boolean {
    return this.#frame !== undefined && this.#frame.filled === this.#frame.payload.length;
  }

  /** Takes a header, which may have begun in the bytes before; gives how many of these belong to it. */
  #readHeader(bytes: Buffer, at: number): number | undefined {
    const before = this.#header.length;
    const known =
      before === 0
        ? bytes.subarray(at, at + HEADER_BYTES)
        : Buffer.concat([this.#header, bytes.subarray(at, at + HEADER_BYTES)]);
    const size = headerSize(known);
    if (size === undefined || known.length < size) {
      this.#header = Buffer.from(known);
      return undefined;
    }
    this.#header = Buffer.alloc(0);
    this.#begin(known, size);
    return size - before;
  }

  #begin(header: Buffer, size: number): void {
    const [first = 0, second = 0] = header;
    if ((first & 0x70) !== 0) throw new Error("reserved bits are set");
    const length = payloadLength(header);
    const opcode = first & 0x0f;
    const isControl = opcode >= OPCODE.close;
    if (isControl && (length > 125 || first < 0x80))
      throw new Error("a control frame is too long or fragmented");
    if (length + this.#fragmentBytes > this.#maxBytes)
      throw new Error(`a message is larger than ${this.#maxBytes} bytes`);
    const isMasked = (second & 0x80) !== 0;
    if (!isMasked) throw new Error("a client's frame must be masked");
    const mask = header.subarray(size - 4, size);
    this.#frame = {
      final: first >= 0x80,
      opcode,
      mask: mask.readUInt32LE() === 0 ? undefined : Buffer.from(mask),
      payload: length < 4096 ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(length),
      filled: 0,
    };
  }

  #finish({ final, opcode, payload }: Frame): void {
    this.#frame = undefined;
    switch (opcode) {
      case OPCODE.ping:
        return this.#listener.ping(payload);
      case OPCODE.pong:
        return;
      case OPCODE.close:
        return this.#listener.close();
      case OPCODE.continuation:
        if (this.#fragments.length === 0) throw new Error("a continuation of nothing");
        break;
      case OPCODE.text:
      case OPCODE.binary:
        if (this.#fragments.length > 0) throw new Error("a new message inside another");
        break;
      default:
        throw new Error(`unknown opcode ${opcode}`);
    }
    if (final && this.#fragments.length === 0) return this.#listener.message(payload);
    this.#fragments.push(payload);
    this.#fragmentBytes += payload.length;
    if (!final) return undefined;
    const whole = Buffer.concat(this.#fragments, this.#fragmentBytes);
    this.#fragments = [];
    this.#fragmentBytes = 0;
    this.#listener.message(whole);
  }
}

function headerSize(header: Buffer): number | undefined {
  const second = header[1];
  if (second === undefined) return undefined;
  const code = second & 0x7f;
  const lengthBytes = code === 127 ? 8 : code === 126 ? 2 : 0;
  return 2 + lengthBytes + ((second & 0x80) === 0 ? 0 : 4);
}

function payloadLength(header: Buffer): number {
  const code = (header[1] ?? 0) & 0x7f;
  if (code === 126) return header.readUInt16BE(2);
  if (code < 126) return code;
  return header.readUInt32BE(2) * 2 ** 32 + header.readUInt32BE(6);
}

/** The mask goes by the place in the payload; four bytes at a time where memory allows it. */
function unmask(payload: Buffer, from: number, to: number, mask: Buffer): void {
  const isAligned = (payload.byteOffset & 3) === 0;
  const start = isAligned ? Math.min(to, (from + 3) & ~3) : to;
  unmaskBytes(payload, from, start, mask);
  if (start === to) return;
  const words = new Uint32Array(payload.buffer, payload.byteOffset + start, (to - start) >>> 2);
  const word = mask.readUInt32LE();
  for (let index = 0; index < words.length; index += 1) words[index] = (words[index] ?? 0) ^ word;
  unmaskBytes(payload, start + words.length * 4, to, mask);
}

function unmaskBytes(payload: Buffer, from: number, to: number, mask: Buffer): void {
  for (let at = from; at < to; at += 1) payload[at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0);
}
