import type { IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Agent as HttpAgent, request as httpRequest } from "../node-http.ts";
import { CODES, Refusal } from "../wire/refusal.ts";

export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Headers that are sent only to the first host. */
const PRIVATE = new Set(["authorization", "cookie", "proxy-authorization", "www-authenticate"]);

/** Sends a request, through the system's proxy if one is set. Follows redirects if `follow` is set. */
export async function sendRequest(outgoing: OutgoingRequest, redirects = 0): Promise<IncomingMessage> {
  const response = await sendOnce(outgoing);
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  if (!outgoing.follow || !REDIRECTS.has(status) || location === undefined) return response;
  response.destroy();
  if (redirects >= MAX_REDIRECTS) throw failed("too many redirects");
  return sendRequest(redirected(outgoing, status, location), redirects + 1);
}

function redirected(outgoing: OutgoingRequest, status: number, location: string): OutgoingRequest {
  const url = new URL(location, outgoing.url);
  if (!/^https?:$/.test(url.protocol)) throw failed(`redirected to ${url.protocol}`);
  // 303 always becomes a GET, and so do 301 and 302 for a POST, as in every browser.
  const becomesGet =
    (status === 303 && outgoing.method !== "HEAD") || (status < 303 && outgoing.method === "POST");
  const sameHost = url.origin === outgoing.url.origin;
  return {
    ...outgoing,
    url,
    method: becomesGet ? "GET" : outgoing.method,
    body: becomesGet ? Buffer.alloc(0) : outgoing.body,
    headers: outgoing.headers.filter(([name]) => {
      const lower = name.toLowerCase();
      if (lower === "host") return false;
      if (becomesGet && lower.startsWith("content-")) return false;
      return sameHost || !PRIVATE.has(lower);
    }),
  };
}

function sendOnce({ method, url, headers, body, signal }: OutgoingRequest): Promise<IncomingMessage> {
  const isHttps = url.protocol === "https:";
  const options = { proxyEnv: process.env, keepAlive: false };
  const agent = isHttps ? new HttpsAgent(options) : new HttpAgent(options);
  return new Promise((resolve, reject) => {
    const request = (isHttps ? httpsRequest : httpRequest)(url, {
      method,
      agent,
      signal,
      headers: withLength(headers, url, method, body).flat(),
    });
    request.once("response", resolve);
    request.once("error", (error) => reject(failed(describe(error, signal))));
    request.end(body);
  });
}

/** If headers are passed as a list, Node adds none of its own. */
function withLength(
  headers: OutgoingRequest["headers"],
  url: URL,
  method: string,
  body: Buffer,
): (readonly [string, string])[] {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const needsLength = body.length > 0 || ["POST", "PUT", "PATCH"].includes(method);
  return [
    ...(names.has("host") ? [] : [["host", url.host] as const]),
    ...headers,
    ...(needsLength && !names.has("content-length") && !names.has("transfer-encoding")
      ? [["content-length", String(body.length)] as const]
      : []),
  ];
}

/** Omits the URL and the headers, which may contain secrets, because errors end up in logs. */
function describe(error: Error, signal: AbortSignal): string {
  if (signal.aborted)
    return signal.reason instanceof Error ? signal.reason.message : "the request was aborted";
  return (error as NodeJS.ErrnoException).code ?? "the request could not be sent";
}

function failed(detail: string): Refusal {
  return new Refusal(CODES.internal, `http/request failed: ${detail}`);
}
