// Ends of a relay that send what a test says, with keys that are only random bytes: the rendezvous can't tell.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { AsyncQueue } from "@codexkit/rpc/async";
import { WebSocket, type ClientOptions } from "ws";
import { ENVIRONMENT } from "./registry-fixture.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly body: Record<string, unknown> & {
    readonly error?: { readonly code: string; readonly message: string };
  };
}

export function randomKey() {
  return {
    suite: "Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256",
    x25519_public_key: randomBytes(32).toString("base64"),
    mlkem768_public_key: randomBytes(1184).toString("base64"),
  };
}

export async function post(
  url: string,
  path: string,
  token: string | undefined,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as HttpAnswer["body"] };
}

export interface Registered {
  readonly url: string;
  readonly registrationId: string;
}

export async function register(
  url: string,
  token: string,
  { environmentId = ENVIRONMENT, key = randomKey() } = {},
): Promise<Registered> {
  const answer = await post(url, `/cloud/environment/${environmentId}/register`, token, {
    security_profile: "noise_hybrid_ik_v1",
    executor_public_key: key,
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer));
  return {
    url: String(answer.body["url"]),
    registrationId: String(answer.body["executor_registration_id"]),
  };
}

export interface Authorized extends Registered {
  readonly authorization: string;
  readonly key: ReturnType<typeof randomKey>;
}

export async function authorize(
  url: string,
  token: string,
  { environmentId = ENVIRONMENT, key = randomKey() } = {},
): Promise<Authorized> {
  const answer = await post(url, `/cloud/environment/${environmentId}/connect`, token, {
    harness_public_key: key,
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer));
  return {
    url: String(answer.body["url"]),
    registrationId: String(answer.body["executor_registration_id"]),
    authorization: String(answer.body["harness_key_authorization"]),
    key,
  };
}

/** An open socket whose messages are kept until they are read. */
export class RawSocket implements AsyncDisposable {
  readonly webSocket: WebSocket;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #frames = new AsyncQueue<Buffer>();

  private constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on("message", (data: Buffer) => this.#frames.push(data));
    webSocket.on("error", () => {});
    this.closed = once(webSocket, "close").then(([code, reason]) => {
      this.#frames.end();
      return { code: code as number, reason: String(reason) };
    });
  }

  /** Rejects with the status of a refused upgrade, such as `401`. */
  static async open(url: string, options: ClientOptions = {}): Promise<RawSocket> {
    const webSocket = new WebSocket(url, { perMessageDeflate: false, ...options });
    const socket = new RawSocket(webSocket);
    const { promise, resolve, reject } = Promise.withResolvers<RawSocket>();
    webSocket.once("open", () => resolve(socket));
    webSocket.once("error", reject);
    webSocket.once("unexpected-response", (_, response) => {
      response.destroy();
      reject(new Error(String(response.statusCode)));
    });
    return promise;
  }

  send(frame: Uint8Array): void {
    this.webSocket.send(frame);
  }

  /** Frames that have arrived and were not read. */
  get unread(): number {
    return this.#frames.length;
  }

  /** The next frame. Rejects if the socket closes instead. */
  async next(): Promise<DecodedFrame> {
    const { value, done } = await this.#frames[Symbol.asyncIterator]().next();
    if (done) throw new Error("The socket was closed.");
    return decode(value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.webSocket.terminate();
    await this.closed;
  }
}

export interface DecodedFrame {
  readonly streamId: string;
  /** Of a data frame. */
  readonly payload?: Buffer;
  /** Of a reset. */
  readonly reset?: string;
}

/** A data frame, as Codex encodes it. */
export function dataFrame(streamId: string, payload: Uint8Array | string, seq = 0): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.Varint).uint32(1);
  writer.tag(2, WireType.LengthDelimited).string(streamId);
  writer.tag(5, WireType.LengthDelimited).fork();
  if (seq > 0) writer.tag(1, WireType.Varint).uint32(seq);
  writer.tag(3, WireType.Varint).uint32(1);
  writer.tag(4, WireType.LengthDelimited).bytes(typeof payload === "string" ? Buffer.from(payload) : payload);
  return writer.join().finish();
}

export function resetFrame(streamId: string, reason: string): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.Varint).uint32(1);
  writer.tag(2, WireType.LengthDelimited).string(streamId);
  return writer
    .tag(8, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.LengthDelimited)
    .string(reason)
    .join()
    .finish();
}

function decode(frame: Uint8Array): DecodedFrame {
  const fields = fieldsOf(frame);
  const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
  const data = fields.get(5);
  const reset = fields.get(8);
  return {
    streamId: text(fields.get(2)),
    ...(data && { payload: Buffer.from(fieldsOf(data).get(4) ?? []) }),
    ...(reset && { reset: text(fieldsOf(reset).get(1)) }),
  };
}

function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array> {
  const fields = new Map<number, Uint8Array>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.LengthDelimited) fields.set(field, reader.bytes());
    else reader.skip(type);
  }
  return fields;
}

export const newStreamId = (): string => randomUUID();
