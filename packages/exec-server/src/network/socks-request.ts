import type { Socket } from "node:net";
import { ByteReader } from "./byte-reader.ts";
import { canonicalHost } from "./host-name.ts";

export const SOCKS_REPLY = {
  granted: 0,
  failure: 1,
  notAllowed: 2,
  unreachable: 4,
  /** All but CONNECT: nothing comes in from outside, and UDP is not relayed. */
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
  /** It does not speak the protocol, or it is gone. */
  | { readonly kind: "broken" };

/** Greets a client, and reads what it wants. */
export async function readSocksRequest(socket: Socket): Promise<SocksRequest> {
  using reader = new ByteReader(socket);
  const [version, methodCount] = (await reader.take(2)) ?? [];
  const methods =
    version === VERSION && methodCount !== undefined ? await reader.take(methodCount) : undefined;
  if (!methods) return BROKEN;
  if (!methods.includes(NO_AUTHENTICATION))
    return { kind: "refused", reply: Buffer.from([VERSION, NO_METHOD]) };
  socket.write(Buffer.from([VERSION, NO_AUTHENTICATION]));
  const [again, command, , kind] = (await reader.take(4)) ?? [];
  if (again !== VERSION || kind === undefined) return BROKEN;
  if (![IPV4, IPV6, NAME].includes(kind)) return refused(SOCKS_REPLY.unknownAddress);
  const length = kind === NAME ? (await reader.take(1))?.[0] : ADDRESS_BYTES[kind];
  const rest = length === undefined ? undefined : await reader.take(length + 2);
  if (!rest) return BROKEN;
  if (command !== CONNECT) return refused(SOCKS_REPLY.unknownCommand);
  const host = canonicalHost(addressText(kind, rest.subarray(0, -2)));
  const port = rest.readUInt16BE(rest.length - 2);
  return host === undefined || port === 0 ? refused(SOCKS_REPLY.failure) : { kind: "connect", host, port };
}

/** The reply to a request. The server's own address is not disclosed. */
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
