import { isIP } from "node:net";

/** The longest name that DNS knows. */
const MAX_BYTES = 253;

/**
 * A host as everybody writes it: in small letters, in ASCII, without a last dot; an address in its one usual form, however
 * it was written (`127.1`, `0x7f000001`, `[::1]`). Undefined when it is no host.
 */
export function canonicalHost(text: string): string | undefined {
  const bare = text.replace(/^\[(?<address>.*)\]$/, "$<address>").replace(/\.+$/, "");
  const isAddress = isIP(bare) === 6;
  // What would be something else than a host in a URL, or be decoded there.
  if (!isAddress && (bare.length > MAX_BYTES || /[\s:/?#@\\%[\]]/.test(bare))) return undefined;
  const host =
    URL.parse(`http://${isAddress ? `[${bare}]` : bare}/`)?.hostname.replaceAll(/[[\]]/g, "") ?? "";
  const isHost = isIP(host) !== 0 || /^[a-z0-9._-]+$/.test(host);
  return isHost && host.length <= MAX_BYTES ? host.replace(/\.+$/, "") || undefined : undefined;
}

/** The host and the port of `host:port` or `[address]:port`; undefined when it is not that. */
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
