import type { Socket } from "node:net";
import { ByteReader } from "./byte-reader.ts";
import { canonicalHost } from "./host-name.ts";

export const SOCKS_REPLY = {
  granted: 0,
  failure: 1,
  notAllowed: 2,
  unreachable: 4,
  /** For all commands except CONNECT: inbound connections and UDP are not supported. */
  unknownCommand: 7,
  unknownAddress: 8,
} as const;

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const NO_METHOD = 0xff;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const ADDRESS_BYTES: Readonly<Record<number, number>> = { [IPV4]: 4, [IPV6]: 16 };

const BROKEN: SocksRequest = { kind: "broken" };

export type SocksRequest =
  | { readonly kind: "connect"; readonly host: string; readonly port: number }
  | { readonly kind: "refused"; readonly reply: Buffer }
  /** The client does not speak the protocol or has disconnected. */
  | { readonly kind: "broken" };

/** Greets a client and reads its request. */
export async function readSocksRequest(socket: Socket): Promise<SocksRequest> {
  using reader = new ByteReader(socket);
  const [version, methodCount] = (await reader.read(2)) ?? [];
  const methods =
    version === VERSION && methodCount !== undefined ? await reader.read(methodCount) : undefined;
  if (!methods) return BROKEN;
  if (!methods.includes(NO_AUTHENTICATION))
    return { kind: "refused", reply: Buffer.from([VERSION, NO_METHOD]) };
  socket.write(Buffer.from([VERSION, NO_AUTHENTICATION]));
  const [again, command, , kind] = (await reader.read(4)) ?? [];
  if (again !== VERSION || kind === undefined) return BROKEN;
  if (![IPV4, IPV6, NAME].includes(kind)) return refused(SOCKS_REPLY.unknownAddress);
  const length = kind === NAME ? (await reader.read(1))?.[0] : ADDRESS_BYTES[kind];
  const rest = length === undefined ? undefined : await reader.read(length + 2);
  if (!rest) return BROKEN;
  if (command !== CONNECT) return refused(SOCKS_REPLY.unknownCommand);
  const host = canonicalHost(addressText(kind, rest.subarray(0, -2)));
  const port = rest.readUInt16BE(rest.length - 2);
  return host === undefined || port === 0 ? refused(SOCKS_REPLY.failure) : { kind: "connect", host, port };
}

/** Builds the reply to a request. Does not disclose the server's own address. */
export function socksReply(code: number): Buffer {
  return Buffer.from([VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]);
}

function refused(code: number): SocksRequest {
  return { kind: "refused", reply: socksReply(code) };
}

function addressText(kind: number, bytes: Buffer): string {
  if (kind === NAME) return bytes.toString("latin1");
  if (kind === IPV4) return bytes.join(".");
  return (bytes.toString("hex").match(/.{4}/g) ?? []).join(":");
}
