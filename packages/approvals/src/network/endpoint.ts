/** A host and, where it is known, a port. Host in lower case, without brackets or a final dot, addresses in one spelling. */
export interface Endpoint {
  readonly host: string;
  readonly port: number | undefined;
}

const PORTS: Readonly<Record<string, number>> = {
  ftp: 21,
  git: 9418,
  http: 80,
  https: 443,
  ssh: 22,
  ws: 80,
  wss: 443,
};

const URL_TEXT =
  /^([a-z][a-z0-9+.-]*):\/\/(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?(?:[/?#]|$)/i;
const SCP_TEXT = /^(?:[\w.-]+@)?([\w.-]+):(?!\d+(?:\/|$))[^@]*$/;
const PLAIN_TEXT = /^(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?(?:[/?#]|$)/i;

/** The usual port of a protocol. */
export function portOf(protocol: string | undefined): number | undefined {
  return PORTS[(protocol ?? "").toLowerCase()];
}

/** An IPv6 address in brackets, as in a URL; any other host as it is. */
export function withBrackets(host: string): string {
  return /^[0-9a-f]*:[0-9a-f:.]*:[0-9a-f.]*$/i.test(host) ? `[${host}]` : host;
}

/**
 * Reads `https://host:port/…`, `user@host:path`, `host:port` and plain hosts. Undefined where programs could disagree
 * about which part is the host: it is then not known.
 */
export function readEndpoint(text: string): Endpoint | undefined {
  // Backslashes, blanks, other scripts and percent signs mean different things to different programs.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(text)) return undefined;
  const url = URL_TEXT.exec(text);
  if (url !== null) return endpointOf(url[2], url[3], portOf(url[1]));
  if (text.includes("://")) return undefined;
  const scp = SCP_TEXT.exec(text);
  if (scp !== null) return endpointOf(scp[1], undefined, 22);
  const plain = PLAIN_TEXT.exec(text);
  return plain === null ? undefined : endpointOf(plain[1], plain[2], undefined);
}

function endpointOf(text = "", port?: string, usual?: number): Endpoint | undefined {
  const host = text.startsWith("[") ? canonicalIpv6(text.slice(1, -1)) : canonicalName(text);
  return host === undefined ? undefined : { host, port: port === undefined ? usual : Number(port) };
}

/** A host as a policy compares it. Undefined for what is neither a name nor an address. */
export function canonicalHost(text: string): string | undefined {
  const bare = text.replace(/^\[|\]$/g, "");
  return bare.includes(":") ? canonicalIpv6(bare) : canonicalName(bare);
}

/** The URL parser knows every spelling of an IPv4 address: `0x7f.1`, `2130706433`, `017700000001`. */
function canonicalName(text: string): string | undefined {
  const name = text.replace(/\.+$/, "");
  // Programs disagree about empty labels and about `0x` without digits.
  if (/(?:^|\.)(?:0x)?(?:\.|$)/i.test(name)) return undefined;
  return URL.parse(`http://${name}/`)?.hostname;
}

function ipv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

/** The shortest spelling; addresses that carry an IPv4 address become that one. */
function canonicalIpv6(text: string): string | undefined {
  const url = URL.parse(`http://[${text}]/`);
  if (url === null) return undefined;
  const address = url.hostname.slice(1, -1);
  const groups = expandGroups(address);
  const low = (groups[6] ?? 0) * 65_536 + (groups[7] ?? 0);
  const isZero = (from: number, to: number): boolean => groups.slice(from, to).every((group) => group === 0);
  // ::ffff:a.b.c.d (mapped), ::a.b.c.d (compatible), 64:ff9b::a.b.c.d (NAT64).
  if (isZero(0, 5) && (groups[5] === 0xff_ff || (groups[5] === 0 && low > 1))) return ipv4(low);
  if (groups[0] === 0x64 && groups[1] === 0xff_9b && isZero(2, 6)) return ipv4(low);
  // 2002:aabb:ccdd:: (6to4).
  if (groups[0] === 0x20_02) return ipv4((groups[1] ?? 0) * 65_536 + (groups[2] ?? 0));
  return address;
}

function expandGroups(address: string): readonly number[] {
  const [head = "", tail] = address.split("::");
  const read = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return read(head);
  const [front, back] = [read(head), read(tail)];
  return [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back];
}
