import { endianness } from "node:os";

/** One architecture: its number in the audit ABI, and its system call numbers. */
interface Architecture {
  readonly audit: number;
  /** Calls that access other processes or bypass this filter. */
  readonly prying: readonly number[];
  /** Calls that access the network. */
  readonly network: readonly number[];
  readonly socket: number;
  readonly socketpair: number;
}

// prying: ptrace, process_vm_readv, process_vm_writev, io_uring_*, pidfd_getfd, userfaultfd
// network: connect, accept, accept4, bind, listen, sendto, sendmmsg, recvmmsg
const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    prying: [101, 310, 311, 425, 426, 427, 438, 323],
    network: [42, 43, 288, 49, 50, 44, 307, 299],
    socket: 41,
    socketpair: 53,
  },
  arm64: {
    audit: 0xc00000b7,
    prying: [117, 270, 271, 425, 426, 427, 438, 282],
    network: [203, 202, 242, 200, 201, 206, 269, 243],
    socket: 198,
    socketpair: 199,
  },
};

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;
const AND = 0x54;

const ALLOW = 0x7fff0000;
const EPERM = 0x00050000 | 1;
const KILL = 0x80000000;

const OFFSET_NUMBER = 0;
const OFFSET_ARCHITECTURE = 4;
const OFFSET_ARGUMENT_0 = 16;
const OFFSET_ARGUMENT_1 = 24;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** Mask that removes the flags of a socket type, and the types whose pairs stay connected to each other. */
const TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
/** Set in call numbers of the x32 ABI on x64, which would otherwise bypass the filter. */
const X32_BIT = 0x40000000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/**
 * Builds a seccomp program that blocks network access that a network namespace can't block: unix sockets in
 * the file system, such as that of a container daemon, are reached by path. Undefined on an unknown
 * architecture.
 */
export function offlineFilter(): Buffer | undefined {
  return filter(({ prying, network, socket, socketpair }) => [
    ...refuse([...network, ...prying]),
    ...[socket, socketpair].flatMap((call) => onlyIf(call, OFFSET_ARGUMENT_0, [AF_UNIX])),
  ]);
}

/**
 * Builds a program for a process whose network namespace contains only a proxy. Internet sockets can only
 * reach the proxy. All other families, such as unix sockets by path or sockets to a hypervisor, could bypass
 * it. Of unix sockets, only pairs of stream sockets are allowed: a datagram socket of a pair can still be
 * connected to any path.
 */
export function proxiedFilter(): Buffer | undefined {
  return filter(({ prying, socket, socketpair }) => [
    ...refuse(prying),
    ...onlyIf(socket, OFFSET_ARGUMENT_0, [AF_INET, AF_INET6]),
    ...onlyIf(socketpair, OFFSET_ARGUMENT_1, [SOCK_STREAM, SOCK_SEQPACKET], TYPE_MASK),
  ]);
}

/**
 * Builds a program for a process that may use the network: it allows internet sockets, unix sockets, and the
 * kernel's routing tables, which programs read to choose an address. Other families, such as sockets to a
 * hypervisor, are refused.
 */
export function onlineFilter(): Buffer | undefined {
  return filter(({ prying, socket, socketpair }) => [
    ...refuse(prying),
    ...onlyIf(socket, OFFSET_ARGUMENT_0, [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]),
    ...onlyIf(socketpair, OFFSET_ARGUMENT_0, [AF_UNIX]),
  ]);
}

function refuse(calls: readonly number[]): Instruction[] {
  return calls.flatMap((call): Instruction[] => [
    [JUMP_EQUAL, 0, 1, call],
    [RETURN, 0, 0, EPERM],
  ]);
}

/** Allows a call if one argument has one of these values, and refuses it otherwise. */
function onlyIf(call: number, offset: number, values: readonly number[], mask = 0xffffffff): Instruction[] {
  const check: Instruction[] = [
    [LOAD_WORD, 0, 0, offset],
    [AND, 0, 0, mask],
    ...values.flatMap((value): Instruction[] => [
      [JUMP_EQUAL, 0, 1, value],
      [RETURN, 0, 0, ALLOW],
    ]),
    [RETURN, 0, 0, EPERM],
  ];
  return [[JUMP_EQUAL, 0, check.length, call], ...check];
}

function filter(rules: (architecture: Architecture) => readonly Instruction[]): Buffer | undefined {
  const architecture = ARCHITECTURES[process.arch];
  if (!architecture || endianness() !== "LE") return undefined;
  const program: Instruction[] = [
    [LOAD_WORD, 0, 0, OFFSET_ARCHITECTURE],
    [JUMP_EQUAL, 1, 0, architecture.audit],
    [RETURN, 0, 0, KILL],
    [LOAD_WORD, 0, 0, OFFSET_NUMBER],
    [JUMP_AT_LEAST, 0, 1, X32_BIT],
    [RETURN, 0, 0, EPERM],
    ...rules(architecture),
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
