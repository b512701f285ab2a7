import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";

import { ScriptedModelError } from "./errors.ts";
import { isRecord } from "./json.ts";
import { SCRIPTED_MODEL_LIMITS } from "./limits.ts";
import { messageOf } from "./race-abort.ts";

// Codex 0.166 sends uncompressed JSON to custom providers. With an OpenAI login it may compress.
const decoders = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
} as const;

export interface RequestBody {
  readonly json: Readonly<Record<string, unknown>>;
  /** Length of the uncompressed text. */
  readonly bytes: number;
}

/** Reads the request's JSON object. Rejects if it exceeds the limits. */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const bytes = await decode(await collect(request), request.headers["content-encoding"]);
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw bad(`the body is not JSON: ${messageOf(cause)}`, cause);
  }
  if (!isRecord(json)) throw bad("the body is JSON but not an object");
  return { json, bytes: bytes.length };
}

async function collect(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = bad(`the body is larger than ${SCRIPTED_MODEL_LIMITS.requestBytes} bytes`);
  if (Number(request.headers["content-length"] ?? 0) > SCRIPTED_MODEL_LIMITS.requestBytes) throw tooLarge;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= SCRIPTED_MODEL_LIMITS.requestBytes) chunks.push(chunk);
    else reject(tooLarge);
  });
  request.on("end", () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  request.on("error", reject);
  request.on("close", () => reject(bad("the connection closed before the body was complete")));
  return promise;
}

async function decode(bytes: Buffer, encoding: string | undefined): Promise<Buffer> {
  if (encoding === undefined || encoding === "identity") return bytes;
  if (!isKnown(encoding)) throw bad(`the content-encoding "${encoding}" is not supported`);
  try {
    return await decoders[encoding](bytes, { maxOutputLength: SCRIPTED_MODEL_LIMITS.requestBytes });
  } catch (cause) {
    throw bad(`the body does not decode as ${encoding}: ${messageOf(cause)}`, cause);
  }
}

function isKnown(encoding: string): encoding is keyof typeof decoders {
  return Object.hasOwn(decoders, encoding);
}

function bad(why: string, cause?: unknown): ScriptedModelError {
  return new ScriptedModelError("bad_request", `The request was rejected: ${why}.`, { cause });
}
