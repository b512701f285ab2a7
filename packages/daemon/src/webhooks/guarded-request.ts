import ipaddr from "ipaddr.js";
import { collectBytes, raceAbort } from "@codexkit/rpc/async";
import { lookup as resolveName } from "node:dns";
import { lookup } from "node:dns/promises";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { DaemonError } from "../errors.ts";

export interface GuardedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether addresses outside the public internet are allowed. */
  readonly allowPrivate: boolean;
  /** Timeout of the whole request, from the DNS lookup to the end of the response. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly signal?: AbortSignal;
}

export interface GuardedResponse {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Sends a POST request to a URL that a client of the daemon has chosen. Redirects are not followed. The name is
 * resolved once, so that the checked address is the one that is used. Rejects with `unprocessable` if the address is
 * not public, and otherwise with the connection error, the timeout or the size limit.
 */
export async function guardedRequest(options: GuardedRequest): Promise<GuardedResponse> {
  const { url, headers, body, allowPrivate, timeoutMs, maxResponseBytes } = options;
  const target = new URL(url);
  const host = hostOf(target);
  // Node does not call the lookup function for IP addresses.
  if (!allowPrivate && isIP(host) !== 0) requirePublic(host);
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([limit, options.signal]) : limit;
  const { promise, resolve, reject } = Promise.withResolvers<GuardedResponse>();
  const send = target.protocol === "https:" ? requestHttps : requestHttp;
  const sent = send(target, {
    method: "POST",
    // Each message has its own connection, because an idle connection would still be used after the name's address has
    // changed.
    agent: false,
    signal,
    headers: {
      "content-type": "application/json",
      "user-agent": "codexkit-daemon",
      ...headers,
      "content-length": String(Buffer.byteLength(body)),
    },
    ...(allowPrivate ? {} : { lookup: publicLookup }),
  });
  let hasResponse = false;
  sent.once("error", reject);
  sent.once("response", (response) => {
    hasResponse = true;
    readBody(response, maxResponseBytes).then(resolve, reject);
  });
  // Node closes a connection that switches protocols without an error. A receiver that closes the connection has the
  // same effect.
  sent.once("close", () => {
    if (!hasResponse) reject(new Error("The receiver closed the connection without a response."));
  });
  sent.end(body);
  try {
    return await promise;
  } catch (error) {
    if (!limit.aborted) throw error;
    throw new DaemonError("timeout", `There was no response within ${timeoutMs} ms.`, { cause: error });
  } finally {
    sent.destroy();
  }
}

/** Maximum time for the DNS lookup when a receiver is registered. */
const LOOKUP_TIMEOUT_MS = 5000;

/**
 * Rejects a receiver whose address is not public, because no request could be sent to it. A name that can't be resolved
 * now is accepted, because every request checks it again.
 */
export async function requirePublicReceiver(url: string): Promise<void> {
  const host = hostOf(new URL(url));
  if (isIP(host) !== 0) return requirePublic(host);
  const limit = AbortSignal.timeout(LOOKUP_TIMEOUT_MS);
  const addresses = await raceAbort(lookup(host, { all: true }), limit).catch(() => []);
  for (const { address } of addresses) requirePublic(address);
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<GuardedResponse> {
  const body = await collectBytes(response as AsyncIterable<Buffer>, maxBytes);
  if (body) return { status: response.statusCode ?? 0, body };
  throw new DaemonError("body_too_large", `The response is larger than ${maxBytes} bytes.`);
}

/** Rejects a name if any of its addresses is not public, regardless of which one would be used. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolveName(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    try {
      for (const { address } of addresses) requirePublic(address);
    } catch (refusal) {
      return callback(refusal as Error, []);
    }
    const [first] = addresses;
    if (options.all === true || first === undefined) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

function requirePublic(address: string): void {
  // `process` unwraps IPv4-mapped IPv6 addresses.
  if (ipaddr.isValid(address) && isPublic(ipaddr.process(address))) return;
  throw new DaemonError(
    "unprocessable",
    `The address ${address} is not on the public internet. Set the daemon's option allowPrivateAddresses to allow it.`,
  );
}

/** The deprecated format `::127.0.0.1`, which the library classifies as unicast. */
const IPV4_COMPATIBLE = ipaddr.IPv6.parseCIDR("::/96");

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || !address.match(IPV4_COMPATIBLE);
}
