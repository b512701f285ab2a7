import { encodeFrame } from "./encode-frame.ts";

/** The numbers in the header of a data frame. */
export interface DataHeader {
  readonly ack: number;
  readonly ackBits: number;
  readonly seq: number;
  readonly segmentIndex: number;
  readonly segmentCount: number;
}

/** Tags of the fields: the field's number times eight, plus the wire type. */
const TAG = { ack: 0x18, ackBits: 0x20, data: 0x2a, seq: 0x08, index: 0x10, count: 0x18, payload: 0x22 };

/**
 * Writes the header of a data frame before a payload that is already in place. This avoids a copy of the records, which make up
 * nearly all bytes of a stream: encryption writes them directly into the frame.
 */
export class DataFrameEncoder {
  /** Version and stream ID, which all frames of the stream begin with. */
  readonly #prefix: Uint8Array;

  constructor(streamId: string) {
    const heartbeat = encodeFrame({ streamId, ack: 0, ackBits: 0, body: { kind: "heartbeat" } });
    this.#prefix = heartbeat.subarray(0, -2);
  }

  /** Bytes before the payload. */
  headerBytes(header: DataHeader, payloadBytes: number): number {
    const inner = innerBytes(header, payloadBytes);
    return (
      this.#prefix.length +
      numberBytes(header.ack) +
      numberBytes(header.ackBits) +
      1 +
      varintBytes(inner + payloadBytes) +
      inner
    );
  }

  /** Writes the header to the start of a frame that has room for exactly this header. */
  writeHeader(frame: Uint8Array, header: DataHeader, payloadBytes: number): void {
    frame.set(this.#prefix);
    let at = this.#prefix.length;
    at = writeNumber(frame, at, TAG.ack, header.ack);
    at = writeNumber(frame, at, TAG.ackBits, header.ackBits);
    frame[at] = TAG.data;
    at = writeVarint(frame, at + 1, innerBytes(header, payloadBytes) + payloadBytes);
    at = writeNumber(frame, at, TAG.seq, header.seq);
    at = writeNumber(frame, at, TAG.index, header.segmentIndex);
    at = writeNumber(frame, at, TAG.count, header.segmentCount);
    frame[at] = TAG.payload;
    writeVarint(frame, at + 1, payloadBytes);
  }
}

/** Bytes of `RelayData` before its payload. */
function innerBytes({ seq, segmentIndex, segmentCount }: DataHeader, payloadBytes: number): number {
  return (
    numberBytes(seq) + numberBytes(segmentIndex) + numberBytes(segmentCount) + 1 + varintBytes(payloadBytes)
  );
}

/** Tag and value; proto3 omits zeros. */
function numberBytes(value: number): number {
  return value === 0 ? 0 : 1 + varintBytes(value);
}

function varintBytes(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

function writeNumber(target: Uint8Array, at: number, tag: number, value: number): number {
  if (value === 0) return at;
  target[at] = tag;
  return writeVarint(target, at + 1, value);
}

function writeVarint(target: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest > 0x7f) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}
