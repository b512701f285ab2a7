import { isIP } from "node:net";
import { DaemonError } from "../errors.ts";

export interface OriginRules {
  /** Host names, without ports, that requests may be addressed to, besides loopback names and IP addresses. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may call the API, besides those of the daemon itself. */
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Rejects requests that a web page of another site makes a browser send. A page can point its own name at this address
 * (DNS rebinding), but it can't make the browser send a `Host` that it does not own, so that unknown names are rejected.
 * IP addresses are no names that can be rebound.
 *
 * @param options.isPage The path is that of a web page, which links of other sites may open.
 */
export function checkOrigin(
  { headers, url }: Pick<Request, "headers" | "url">,
  { allowedHosts, allowedOrigins }: OriginRules,
  { isPage = false }: { readonly isPage?: boolean } = {},
): void {
  // A request that a program passes to `daemon.fetch` has no such header. Those of a server do.
  const host = headers.get("host") ?? new URL(url).host;
  const name = hostName(host);
  if (!isAllowedHost(name, allowedHosts)) {
    throw new DaemonError(
      "host_not_allowed",
      `Requests to the host "${name}" are not allowed. Add it to allowedHosts.`,
    );
  }
  const origin = headers.get("origin");
  if (origin !== null) {
    if (allowedOrigins.includes(origin) || isSameOrigin(origin, host)) return;
    throw new DaemonError(
      "origin_not_allowed",
      `Pages of "${origin}" may not call this API. Add it to allowedOrigins.`,
    );
  }
  // Browsers omit `Origin` for some requests, such as images and navigation, but not this header.
  const site = headers.get("sec-fetch-site");
  // A link of another site may open the page, which is public and can't be framed. It can't read it.
  if (isPage && headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document")
    return;
  if (site !== null && site !== "same-origin" && site !== "none") {
    throw new DaemonError("origin_not_allowed", "Requests of pages of other sites are not allowed.");
  }
}

function hostName(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}

function isAllowedHost(name: string, allowedHosts: readonly string[]): boolean {
  return (
    LOOPBACK_NAMES.has(name) ||
    isIP(name.replace(/^\[|\]$/g, "")) !== 0 ||
    allowedHosts.some((allowed) => allowed.toLowerCase() === name)
  );
}

function isSameOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}
