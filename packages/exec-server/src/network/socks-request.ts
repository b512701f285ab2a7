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

/** Greets, and reads what the client wants. Undefined when it wants nothing that is done here: it has been told so. */
export async function readSocksRequest(socket: Socket): Promise<{ host: string; port: number } | undefined> {
  using reader = new ByteReader(socket);
  const [version, methodCount] = (await reader.take(2)) ?? [];
  const methods =
    version === VERSION && methodCount !== undefined ? await reader.take(methodCount) : undefined;
  if (!methods) return void socket.destroy();
  if (!methods.includes(NO_AUTHENTICATION)) return void socket.end(Buffer.from([VERSION, NO_METHOD]));
  socket.write(Buffer.from([VERSION, NO_AUTHENTICATION]));
  const [again, command, , kind] = (await reader.take(4)) ?? [];
  if (again !== VERSION || command === undefined || kind === undefined) return void socket.destroy();
  const length = await addressLength(reader, kind);
  if (length === undefined) return void socket.end(socksReply(SOCKS_REPLY.unknownAddress));
  const rest = await reader.take(length + 2);
  if (!rest) return void socket.destroy();
  if (command !== CONNECT) return void socket.end(socksReply(SOCKS_REPLY.unknownCommand));
  const host = canonicalHost(addressText(kind, rest.subarray(0, length)));
  const port = rest.readUInt16BE(length);
  if (host === undefined || port === 0) return void socket.end(socksReply(SOCKS_REPLY.failure));
  return { host, port };
}

/** Tells what came of a request. The address it was done from is nobody's business. */
export function socksReply(code: number): Buffer {
  return Buffer.from([VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]);
}

async function addressLength(reader: ByteReader, kind: number): Promise<number | undefined> {
  if (kind === IPV4) return 4;
  if (kind === IPV6) return 16;
  return kind === NAME ? (await reader.take(1))?.[0] : undefined;
}

function addressText(kind: number, bytes: Buffer): string {
  if (kind === NAME) return bytes.toString("latin1");
  if (kind === IPV4) return bytes.join(".");
  return (bytes.toString("hex").match(/.{4}/g) ?? []).join(":");
}
