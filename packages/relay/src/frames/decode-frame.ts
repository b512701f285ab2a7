import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { isUtf8 } from "node:buffer";
import { RelayError } from "../errors.ts";
import { FRAME_VERSION, type FrameBody, type RelayFrame } from "./frame.ts";

/** Fields of `RelayMessageFrame`. */
const FIELD = {
  version: 1,
  streamId: 2,
  ack: 3,
  ackBits: 4,
  data: 5,
  ackFrame: 6,
  resume: 7,
  reset: 8,
  heartbeat: 9,
  handshake: 10,
  traceparent: 11,
  tracestate: 12,
} as const;

/**
 * Decodes and checks a frame. Payloads are views into `bytes`, not copies. Throws `protocol_violation` with a message
 * that contains no part of the frame. The stream decides whether segments are allowed.
 */
export function decodeFrame(bytes: Uint8Array): RelayFrame {
  let frame: { -readonly [Key in keyof RelayFrame]?: RelayFrame[Key] } & { version?: number };
  try {
    frame = readFields(bytes);
  } catch {
    throw invalid("it is not a valid protobuf message");
  }
  const { version = 0, streamId = "", body } = frame;
  if (version !== FRAME_VERSION) throw invalid(`its version is not ${FRAME_VERSION}`);
  if (streamId.trim() === "") throw invalid("it has no stream ID");
  if (!body) throw invalid("it has no body");
  const problem = bodyProblem(body);
  if (problem !== undefined) throw invalid(problem);
  const { ack = 0, ackBits = 0, traceparent, tracestate } = frame;
  return {
    streamId,
    ack,
    ackBits,
    body,
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

function bodyProblem(body: FrameBody): string | undefined {
  switch (body.kind) {
    case "data":
      if (body.segmentIndex >= body.segmentCount) return "its segment is out of range";
      return body.payload.length === 0 ? "it has no payload" : undefined;
    case "handshake":
      return body.payload.length === 0 ? "it has no payload" : undefined;
    case "reset":
      return body.reason === "" ? "it has no reason" : undefined;
    case "ack":
    case "heartbeat":
    case "resume":
      return undefined;
  }
}

function readFields(bytes: Uint8Array) {
  const frame: { -readonly [Key in keyof RelayFrame]?: RelayFrame[Key] } & { version?: number } = {};
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    switch (field) {
      case FIELD.version:
        frame.version = readNumber(reader, wireType);
        break;
      case FIELD.streamId:
        frame.streamId = readText(reader, wireType);
        break;
      case FIELD.ack:
        frame.ack = readNumber(reader, wireType);
        break;
      case FIELD.ackBits:
        frame.ackBits = readNumber(reader, wireType);
        break;
      case FIELD.data:
        frame.body = readData(readBytes(reader, wireType));
        break;
      case FIELD.ackFrame:
        skipFields(readBytes(reader, wireType));
        frame.body = { kind: "ack" };
        break;
      case FIELD.resume:
        frame.body = { kind: "resume", nextSeq: readResume(readBytes(reader, wireType)) };
        break;
      case FIELD.reset:
        frame.body = { kind: "reset", reason: readReset(readBytes(reader, wireType)) };
        break;
      case FIELD.heartbeat:
        skipFields(readBytes(reader, wireType));
        frame.body = { kind: "heartbeat" };
        break;
      case FIELD.handshake:
        frame.body = { kind: "handshake", payload: readHandshake(readBytes(reader, wireType)) };
        break;
      case FIELD.traceparent:
        frame.traceparent = readText(reader, wireType);
        break;
      case FIELD.tracestate:
        frame.tracestate = readText(reader, wireType);
        break;
      default:
        reader.skip(wireType, field);
    }
  }
  return frame;
}

function readData(bytes: Uint8Array): FrameBody {
  const data = { kind: "data" as const, seq: 0, segmentIndex: 0, segmentCount: 0, payload: EMPTY };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) data.seq = readNumber(reader, wireType);
    else if (field === 2) data.segmentIndex = readNumber(reader, wireType);
    else if (field === 3) data.segmentCount = readNumber(reader, wireType);
    else if (field === 4) data.payload = readBytes(reader, wireType);
    else reader.skip(wireType, field);
  }
  return data;
}

const EMPTY: Uint8Array = new Uint8Array();

function readResume(bytes: Uint8Array): number {
  let nextSeq = 0;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) nextSeq = readNumber(reader, wireType);
    else reader.skip(wireType, field);
  }
  return nextSeq;
}

function readReset(bytes: Uint8Array): string {
  let reason = "";
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) reason = readText(reader, wireType);
    else reader.skip(wireType, field);
  }
  return reason;
}

function readHandshake(bytes: Uint8Array): Uint8Array {
  let payload: Uint8Array = EMPTY;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) payload = readBytes(reader, wireType);
    else reader.skip(wireType, field);
  }
  return payload;
}

function skipFields(bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    reader.skip(wireType, field);
  }
}

function readNumber(reader: BinaryReader, wireType: WireType): number {
  if (wireType !== WireType.Varint) throw new Error("wrong wire type");
  return reader.uint32();
}

function readBytes(reader: BinaryReader, wireType: WireType): Uint8Array {
  if (wireType !== WireType.LengthDelimited) throw new Error("wrong wire type");
  return reader.bytes();
}

function readText(reader: BinaryReader, wireType: WireType): string {
  const bytes = readBytes(reader, wireType);
  if (!isUtf8(bytes)) throw new Error("not UTF-8");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function invalid(problem: string): RelayError {
  return new RelayError("protocol_violation", `Received an invalid relay frame: ${problem}.`);
}
