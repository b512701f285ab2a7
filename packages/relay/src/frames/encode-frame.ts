import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FRAME_VERSION, type RelayFrame } from "./frame.ts";

/** Encodes a frame. For the records of a stream, `DataFrameEncoder` does the same without copying the payload. */
export function encodeFrame(frame: RelayFrame): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).uint32(FRAME_VERSION);
  writer.tag(2, WireType.LengthDelimited).string(frame.streamId);
  writeNumber(writer, 3, frame.ack);
  writeNumber(writer, 4, frame.ackBits);
  writeBody(writer, frame);
  writeText(writer, 11, frame.traceparent);
  writeText(writer, 12, frame.tracestate);
  return writer.finish();
}

function writeBody(writer: BinaryWriter, { body }: RelayFrame): void {
  switch (body.kind) {
    case "data":
      writer.tag(5, WireType.LengthDelimited).fork();
      writeNumber(writer, 1, body.seq);
      writeNumber(writer, 2, body.segmentIndex);
      writeNumber(writer, 3, body.segmentCount);
      writer.tag(4, WireType.LengthDelimited).bytes(body.payload).join();
      break;
    case "ack":
      writer.tag(6, WireType.LengthDelimited).uint32(0);
      break;
    case "resume":
      writer.tag(7, WireType.LengthDelimited).fork();
      writeNumber(writer, 1, body.nextSeq);
      writer.join();
      break;
    case "reset":
      writer.tag(8, WireType.LengthDelimited).fork();
      writeText(writer, 1, body.reason);
      writer.join();
      break;
    case "heartbeat":
      writer.tag(9, WireType.LengthDelimited).uint32(0);
      break;
    case "handshake":
      writer.tag(10, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).bytes(body.payload).join();
      break;
  }
}

/** proto3 omits zeros. */
function writeNumber(writer: BinaryWriter, field: number, value: number): void {
  if (value !== 0) writer.tag(field, WireType.Varint).uint32(value);
}

function writeText(writer: BinaryWriter, field: number, text: string | undefined): void {
  if (text !== undefined) writer.tag(field, WireType.LengthDelimited).string(text);
}
