import { collectBytes, messageOf } from "@codexkit/rpc/async";
import type { IncomingMessage } from "node:http";
import { EXEC_LIMITS } from "../limits.ts";
import type { CallContext, Method } from "../session/method.ts";
import { decodeBase64 } from "../wire/base64.ts";
import type { HttpResult } from "../wire/exec-wire.ts";
import { httpParams, type HttpParams } from "../wire/http-params.ts";
import { CODES, Refusal } from "../wire/refusal.ts";
import { requestHeaders } from "./request-headers.ts";
import { sendRequest } from "./send-request.ts";

/** Implements `http/request`, including the streamed bodies of one connection. */
export function httpMethod(): Method {
  const streaming = new Set<string>();
  return {
    params: httpParams,
    lane: "ordinary",
    run: async (params: HttpParams, context: CallContext): Promise<HttpResult> => {
      const streams = params.streamResponse === true;
      if (streams) claim(streaming, params.requestId);
      try {
        const response = await send(params, context.signal);
        const bodyBase64 = streams ? "" : (await wholeBody(response)).toString("base64");
        // The response comes first; the pieces of the body follow it.
        if (streams) setImmediate(() => void streamBody(response, params.requestId, context, streaming));
        return { status: response.statusCode ?? 0, headers: headersOf(response), bodyBase64 };
      } catch (error) {
        if (streams) streaming.delete(params.requestId);
        throw error;
      }
    },
  };
}

function claim(streaming: Set<string>, requestId: string): void {
  if (streaming.has(requestId)) throw invalid(`http/request stream \`${requestId}\` is already active`);
  if (streaming.size >= EXEC_LIMITS.httpStreams)
    throw invalid(`At most ${EXEC_LIMITS.httpStreams} bodies can be streamed at once.`);
  streaming.add(requestId);
}

function send(params: HttpParams, ended: AbortSignal): Promise<IncomingMessage> {
  const body = decodeBase64(params.bodyBase64 ?? "");
  if (!body) throw invalid("bodyBase64 is not valid base64");
  const { timeoutMs } = params;
  const signal =
    typeof timeoutMs === "number" ? AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)]) : ended;
  return sendRequest({
    method: checkedMethod(params.method),
    url: checkedUrl(params.url),
    headers: requestHeaders(params.headers, process.env),
    body,
    follow: params.redirectPolicy !== "stop",
    signal,
  });
}

function checkedMethod(method: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method)) throw invalid("The HTTP method is invalid.");
  return method;
}

function checkedUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url) throw invalid("The URL is invalid.");
  if (!/^https?:$/.test(url.protocol)) {
    throw invalid(`http/request only supports http and https URLs, got ${url.protocol.slice(0, -1)}`);
  }
  url.hash = "";
  return url;
}

/** Values that are not text are omitted. */
function headersOf(response: IncomingMessage): { name: string; value: string }[] {
  const { rawHeaders } = response;
  const headers: { name: string; value: string }[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const value = rawHeaders[at + 1] ?? "";
    if (/^[\t\u0020-\u007e]*$/.test(value))
      headers.push({ name: (rawHeaders[at] ?? "").toLowerCase(), value });
  }
  return headers;
}

async function wholeBody(response: IncomingMessage): Promise<Buffer> {
  let body: Buffer | undefined;
  try {
    body = await collectBytes(response as AsyncIterable<Buffer>, EXEC_LIMITS.httpBodyBytes);
  } catch (error) {
    throw new Refusal(CODES.internal, `http/request failed: ${messageOf(error)}`);
  }
  if (body) return body;
  throw new Refusal(
    CODES.internal,
    `http/request failed: the body has more than ${EXEC_LIMITS.httpBodyBytes} bytes. Set streamResponse.`,
  );
}

async function streamBody(
  response: IncomingMessage,
  requestId: string,
  { notify, flowed }: CallContext,
  streaming: Set<string>,
): Promise<void> {
  let seq = 1;
  const delta = (bytes: Buffer, done: boolean, error: string | null): void =>
    notify("http/request/bodyDelta", {
      requestId,
      seq: seq++,
      deltaBase64: bytes.toString("base64"),
      done,
      error,
    });
  let failure: string | null = null;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      for (let at = 0; at < piece.length; at += EXEC_LIMITS.httpDeltaBytes) {
        delta(piece.subarray(at, at + EXEC_LIMITS.httpDeltaBytes), false, null);
      }
      await flowed();
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : "the body broke off";
  }
  streaming.delete(requestId);
  delta(Buffer.alloc(0), true, failure);
}

function invalid(message: string): Refusal {
  return new Refusal(CODES.invalidParams, message);
}
