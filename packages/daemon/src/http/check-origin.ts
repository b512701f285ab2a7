import { isIP } from "node:net";
import { DaemonError } from "../errors.ts";

export interface OriginRules {
  /** Host names, without ports, that requests may be sent to, in addition to loopback names and IP addresses. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may call the API, in addition to the daemon's own origins. */
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Rejects requests that a web page of another site makes a browser send. A page can make its own host name resolve to
 * this address (DNS rebinding), but it can't make the browser send a `Host` header for a name that it does not control.
 * Unknown names are therefore rejected. IP addresses can't be rebound.
 *
 * @param options.isPage Whether the path is that of a web page, which links on other sites may open.
 */
export function checkOrigin(
  { headers, url }: Pick<Request, "headers" | "url">,
  { allowedHosts, allowedOrigins }: OriginRules,
  { isPage = false }: { readonly isPage?: boolean } = {},
): void {
  // A request that a program passes to `daemon.fetch` has no such header. Requests of a server always do.
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
      `Pages from "${origin}" may not call this API. Add it to allowedOrigins.`,
    );
  }
  // Browsers omit `Origin` for some requests, such as images and navigation, but they send this header.
  const site = headers.get("sec-fetch-site");
  // A link on another site may open the page: it is public, can't be framed, and the other site can't read it.
  if (isPage && headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document")
    return;
  if (site !== null && site !== "same-origin" && site !== "none") {
    throw new DaemonError("origin_not_allowed", "Requests from pages of other sites are not allowed.");
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
