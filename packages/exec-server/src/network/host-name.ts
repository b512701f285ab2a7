import { isIP } from "node:net";

/** The longest name in DNS. */
const MAX_BYTES = 253;

/**
 * Returns the canonical form of a host: lower case, ASCII and without a trailing dot, or the usual form of an
 * address in any notation (`127.1`, `0x7f000001`, `[::1]`). Undefined if the text is not a host.
 */
export function canonicalHost(text: string): string | undefined {
  const bare = text.replace(/^\[(?<address>.*)\]$/, "$<address>").replace(/\.+$/, "");
  const isAddress = isIP(bare) === 6;
  // Characters that would not be part of the host in a URL, or would be decoded there.
  if (!isAddress && (bare.length > MAX_BYTES || /[\s:/?#@\\%[\]]/.test(bare))) return undefined;
  const host =
    URL.parse(`http://${isAddress ? `[${bare}]` : bare}/`)?.hostname.replaceAll(/[[\]]/g, "") ?? "";
  const isHost = isIP(host) !== 0 || /^[a-z0-9._-]+$/.test(host);
  return isHost && host.length <= MAX_BYTES ? host.replace(/\.+$/, "") || undefined : undefined;
}

/** Parses `host:port` or `[address]:port`. Undefined for other text. */
export function readAuthority(
  text: string,
  defaultPort?: number,
): { readonly host: string; readonly port: number } | undefined {
  const found = /^(?<name>\[[^\]]*\]|[^:]*)(?::(?<port>\d{1,5}))?$/.exec(text)?.groups;
  const host = found?.["name"] === undefined ? undefined : canonicalHost(found["name"]);
  const port = found?.["port"] === undefined ? defaultPort : Number(found["port"]);
  if (host === undefined || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host, port };
}
