import { endianness } from "node:os";

/** One architecture: its number in the audit ABI, and its system call numbers. */
interface Architecture {
  readonly audit: number;
  /** Calls that are refused: those that reach the network or other processes. */
  readonly refused: readonly number[];
  /** `socket` and `socketpair`: only unix sockets, which programs use within themselves. */
  readonly sockets: readonly number[];
}

// connect, accept, accept4, bind, listen, sendto, sendmmsg, recvmmsg, ptrace, process_vm_readv, process_vm_writev, io_uring_*
const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    refused: [42, 43, 288, 49, 50, 44, 307, 299, 101, 310, 311, 425, 426, 427],
    sockets: [41, 53],
  },
  arm64: {
    audit: 0xc00000b7,
    refused: [203, 202, 242, 200, 201, 206, 269, 243, 117, 270, 271, 425, 426, 427],
    sockets: [198, 199],
  },
};

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const EPERM = 0x00050000 | 1;
const KILL = 0x80000000;

const OFFSET_NUMBER = 0;
const OFFSET_ARCHITECTURE = 4;
const OFFSET_ARGUMENT_0 = 16;
const AF_UNIX = 1;
/** Calls of the x32 ABI on x64 have this bit: they would slip through by another number. */
const X32_BIT = 0x40000000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/**
 * A seccomp program that refuses the network where a network namespace can't: unix sockets in the file system, such as
 * the one of a container daemon, are reached by path. Undefined on an architecture that it does not know.
 */
export function networkFilter(): Buffer | undefined {
  const architecture = ARCHITECTURES[process.arch];
  if (!architecture || endianness() !== "LE") return undefined;
  const { audit, refused, sockets } = architecture;
  const program: Instruction[] = [
    [LOAD_WORD, 0, 0, OFFSET_ARCHITECTURE],
    [JUMP_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL],
    [LOAD_WORD, 0, 0, OFFSET_NUMBER],
    [JUMP_AT_LEAST, 0, 1, X32_BIT],
    [RETURN, 0, 0, EPERM],
    ...refused.flatMap((call): Instruction[] => [
      [JUMP_EQUAL, 0, 1, call],
      [RETURN, 0, 0, EPERM],
    ]),
    ...sockets.flatMap((call): Instruction[] => [
      [JUMP_EQUAL, 0, 4, call],
      [LOAD_WORD, 0, 0, OFFSET_ARGUMENT_0],
      [JUMP_EQUAL, 0, 1, AF_UNIX],
      [RETURN, 0, 0, ALLOW],
      [RETURN, 0, 0, EPERM],
    ]),
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
