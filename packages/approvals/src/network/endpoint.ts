import { PolicyError } from "../errors.ts";

/** A host and, if known, a port. The host is in canonical form: lower case, without brackets or a trailing dot. */
export interface Endpoint {
  readonly host: string;
  readonly port: number | undefined;
}

const PORTS: ReadonlyMap<string, number> = new Map(
  Object.entries({ ftp: 21, git: 9418, http: 80, https: 443, ssh: 22, ws: 80, wss: 443 }),
);

const URL_TEXT =
  /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?(?:[/?#]|$)/i;
const SCP_TEXT = /^(?:[\w.-]+@)?([\w.-]+):(?!\d+(?:\/|$))[^@]*$/;

export function portOf(protocol = ""): number | undefined {
  return PORTS.get(protocol.toLowerCase());
}

export function withBrackets(host: string): string {
  return /^[0-9a-f]*:[0-9a-f:.]*:[0-9a-f.]*$/i.test(host) ? `[${host}]` : host;
}

/**
 * Reads `https://host:port/…`, `user@host:path`, `host:port` and plain hosts. Undefined if programs could disagree about which
 * part is the host.
 */
export function readEndpoint(text: string): Endpoint | undefined {
  // Backslashes, blanks and non-ASCII characters mean different things to different programs.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(text)) return undefined;
  const scp = text.includes("://") ? null : SCP_TEXT.exec(text);
  const [, protocol, name = "", port] = URL_TEXT.exec(text) ?? [];
  if (text.includes("://") && protocol === undefined) return undefined;
  const host = canonicalHost(scp?.[1] ?? name);
  if (host === undefined) return undefined;
  if (scp !== null) return { host, port: PORTS.get("ssh") };
  return { host, port: port === undefined ? portOf(protocol) : Number(port) };
}

/** The form in which policies compare hosts. Undefined if the text is neither a name nor an address. */
export function canonicalHost(text: string): string | undefined {
  const bare = text.replace(/^\[|\]$/g, "");
  if (bare.includes(":")) return canonicalIpv6(bare);
  const name = bare.replace(/(?<!\.)\.+$/, "");
  // Programs disagree about empty labels and about `0x` without digits.
  if (/(?:^|\.)(?:0x)?(?:\.|$)/i.test(name)) return undefined;
  // The URL parser accepts every notation of an IPv4 address: `0x7f.1`, `2130706433`, `017700000001`.
  return URL.parse(`http://${name}/`)?.hostname;
}

/** The shortest notation. An address that embeds an IPv4 address becomes that address. */
function canonicalIpv6(text: string): string | undefined {
  const address = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  if (address === undefined) return undefined;
  const [front = [], back] = address
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  const zeros = back === undefined ? 0 : 8 - front.length - back.length;
  const groups = [...front, ...Array.from({ length: zeros }, () => 0), ...(back ?? [])];
  const ipv4 = (at: number): string =>
    groups
      .slice(at, at + 2)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  const isZero = (from: number, to: number): boolean => groups.slice(from, to).every((group) => group === 0);
  const isShort = isZero(0, 7) && (groups[7] ?? 0) <= 1;
  // ::ffff:a.b.c.d (mapped), ::a.b.c.d (compatible), 64:ff9b::a.b.c.d (NAT64), 2002:aabb:ccdd:: (6to4).
  if (isZero(0, 5) && (groups[5] === 0xff_ff || (groups[5] === 0 && !isShort))) return ipv4(6);
  if (groups[0] === 0x64 && groups[1] === 0xff_9b && isZero(2, 6)) return ipv4(6);
  return groups[0] === 0x20_02 ? ipv4(1) : address;
}

/** The range of a canonical host. Names are judged by their text, because their addresses are not known here. */
export type HostRange = "loopback" | "private" | "metadata" | "public";

const METADATA =
  /^(?:100\.100\.100\.200|169\.254\.(?:169\.254|170\.2)|fd00:ec2::254|instance-data|metadata(?:\.goog|\.google\.internal)?)$/;

const PRIVATE_IPV4 =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|0\.)/;

export function rangeOf(host: string): HostRange {
  if (METADATA.test(host)) return "metadata";
  if (host === "localhost" || host.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(host))
    return "loopback";
  if (host === "::1" || host === "0.0.0.0" || host === "::") return "loopback";
  if (PRIVATE_IPV4.test(host) && /^\d+\.\d+\.\d+\.\d+$/.test(host)) return "private";
  if (host.includes(":") && /^(?:f[cd]|fe[89ab])/.test(host)) return "private";
  // Names without a dot, and with the suffixes of home and company networks, are private.
  if (!host.includes(".") && !host.includes(":")) return "private";
  return /\.(?:local|internal|lan|home|corp|intranet|home\.arpa)$/.test(host) ? "private" : "public";
}

/**
 * `example.com` matches only that host, `*.example.com` every host below it, `**.example.com` both, and `*` every host. `:8080`
 * or `:8000-8999` at the end limits the ports.
 *
 * @param orUnknown Whether an unknown port matches every limit. True for denials, because the port may be a denied one; false for
 *   permissions, because it may not be an allowed one.
 */
export type HostPattern = (endpoint: Endpoint, orUnknown?: boolean) => boolean;

export function compileHostPattern(pattern: string): HostPattern {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9.*_-]+)(?::(\d+)(?:-(\d+))?)?$/i.exec(pattern);
  if (match === null) {
    throw new PolicyError(
      "invalid_rule",
      `"${pattern}" is not a host pattern: write example.com, *.example.com or example.com:8080`,
    );
  }
  const [, rawHost = "", low, high = low] = match;
  const bare = rawHost.replace(/^\[|\]$/g, "").toLowerCase();
  const host = bare.includes("*") ? bare : (canonicalHost(rawHost) ?? bare);
  const matchesHost = hostMatcher(host, pattern);
  if (low === undefined) return (endpoint) => matchesHost(endpoint.host);
  const [from, to] = [Number(low), Number(high)];
  return ({ host: name, port }, orUnknown = false) =>
    matchesHost(name) && (port === undefined ? orUnknown : port >= from && port <= to);
}

function hostMatcher(host: string, pattern: string): (name: string) => boolean {
  if (host === "*") return () => true;
  const star = /^(\*\*?)\.(.+)$/.exec(host);
  const rest = star?.[2] ?? host;
  if (rest.includes("*"))
    throw new PolicyError("invalid_rule", `"${pattern}": a star is allowed only before the first dot`);
  if (star === null) return (name) => name === host;
  const suffix = `.${rest}`;
  return star[1] === "**"
    ? (name) => name === rest || name.endsWith(suffix)
    : (name) => name.endsWith(suffix);
}
