import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Fields of `RelayMessageFrame` that the rendezvous reads. */
const VERSION = 1;
const STREAM_ID = 2;
const DATA = 5;
const RESET = 8;
const HANDSHAKE = 10;
/** Field of `RelayReset`. */
const REASON = 1;

const MAX_STREAM_ID_BYTES = 128;

export interface FrameHeader {
  /** One character per byte. Used as a map key, not as text. */
  readonly streamId: string;
  readonly isReset: boolean;
  readonly isHandshake: boolean;
  readonly isData: boolean;
}

/**
 * Returns the stream of a frame, without reading its contents. Undefined if the frame is malformed or has more than one stream ID,
 * because each end could use a different one of them, and receive frames of another harness.
 */
export function readFrameHeader(frame: Uint8Array): FrameHeader | undefined {
  let streamId: string | undefined;
  let isReset = false;
  let isHandshake = false;
  let isData = false;
  try {
    const reader = new BinaryReader(frame);
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === STREAM_ID) {
        if (type !== WireType.LengthDelimited || streamId !== undefined) return undefined;
        const bytes = reader.bytes();
        if (bytes.length === 0 || bytes.length > MAX_STREAM_ID_BYTES) return undefined;
        streamId = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
      } else {
        if (type === WireType.StartGroup || type === WireType.EndGroup) return undefined;
        if (field === RESET) isReset = true;
        else if (field === HANDSHAKE) isHandshake = true;
        else if (field === DATA) isData = true;
        reader.skip(type);
      }
    }
  } catch {
    return undefined;
  }
  return streamId === undefined ? undefined : { streamId, isReset, isHandshake, isData };
}

/** Encodes a frame that ends a stream. The reason is untrusted at both ends. */
export function encodeReset(streamId: string, reason: string): Uint8Array {
  const writer = new BinaryWriter().tag(VERSION, WireType.Varint).uint32(1);
  writer.tag(STREAM_ID, WireType.LengthDelimited).bytes(Buffer.from(streamId, "latin1"));
  writer
    .tag(RESET, WireType.LengthDelimited)
    .fork()
    .tag(REASON, WireType.LengthDelimited)
    .string(reason)
    .join();
  return writer.finish();
}
