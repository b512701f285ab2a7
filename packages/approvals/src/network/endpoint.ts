/** A host and, where it is known, a port. Host in lower case, without brackets or a final dot. */
export interface Endpoint {
  readonly host: string;
  readonly port: number | undefined;
}

const PORTS: Record<string, number> = { http: 80, https: 443, ftp: 21, ssh: 22, git: 9418, ws: 80, wss: 443 };

/** Reads `https://host:port/…`, `user@host:path`, `host:port` and plain hosts. Undefined when there is no host in it. */
export function readEndpoint(text: string): Endpoint | undefined {
  // Programs disagree about what a backslash or a space in a URL means: not one of them is taken at its word.
  if (/[\\\s]/.test(text)) return undefined;
  const url = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:@]+)(?::(\d+))?(?:[/?#]|$)/i.exec(
    text,
  );
  if (url !== null) return endpoint(url[2], url[3], PORTS[(url[1] ?? "").toLowerCase()]);
  // Whatever claims to be a URL and does not read as one is not guessed at.
  if (text.includes("://")) return undefined;
  const scp = /^(?:[\w.-]+@)?([\w.-]+):(?!\d+(?:\/|$))/.exec(text);
  if (scp !== null) return endpoint(scp[1], undefined, 22);
  const plain = /^(?:[^/?#@]*@)?(\[[^\]]*\]|[\w.-]+)(?::(\d+))?(?:[/?#]|$)/.exec(text);
  return plain === null ? undefined : endpoint(plain[1], plain[2], undefined);
}

function endpoint(host = "", port?: string, usual?: number): Endpoint | undefined {
  const name = host
    .replace(/^\[|\]$/g, "")
    .replace(/\.+$/, "")
    .toLowerCase();
  if (name === "" || name.includes("\u0000")) return undefined;
  const number = port === undefined ? usual : Number(port);
  return { host: canonicalHost(name), port: number };
}

/** `0x7f.1`, `2130706433` and `017700000001` are spellings of 127.0.0.1 that every resolver takes. */
function canonicalHost(host: string): string {
  const parts = host.split(".");
  if (parts.length > 4 || !parts.every((part) => /^(?:0x[0-9a-f]*|\d+)$/.test(part))) return host;
  const numbers = parts.map((part) => (/^0\d/.test(part) ? Number.parseInt(part, 8) : Number(part || "0")));
  const last = numbers.pop() ?? 0;
  const address = numbers.reduce((sum, part, index) => sum + part * 256 ** (3 - index), last);
  if (!Number.isSafeInteger(address) || address > 0xff_ff_ff_ff) return host;
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}
