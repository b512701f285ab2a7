// Runs the filters as the kernel would, one system call at a time.
import { describe, expect, test } from "vitest";
import { offlineFilter, onlineFilter, proxiedFilter } from "./seccomp.ts";

const NUMBERS = {
  x64: { audit: 0xc000003e, socket: 41, socketpair: 53, connect: 42, ptrace: 101, read: 0, userfaultfd: 323 },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    socketpair: 199,
    connect: 203,
    ptrace: 117,
    read: 63,
    userfaultfd: 282,
  },
}[process.arch as "x64" | "arm64"];
const PIDFD_GETFD = 438;
const [UNIX, INET, INET6, NETLINK, PACKET, VSOCK] = [1, 2, 10, 16, 17, 40];
const [STREAM, DGRAM, RAW, SEQPACKET] = [1, 2, 3, 5];
const FLAGS = 0o2000000 | 0o4000;

function verdict(
  program: Buffer | undefined,
  call: number,
  args: readonly number[] = [],
  audit = NUMBERS.audit,
) {
  if (!program) throw new Error("no filter for this architecture");
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call >>> 0, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, value] of args.entries()) data.writeUInt32LE(value, 16 + index * 8);
  let accumulator = 0;
  for (let at = 0; at * 8 < program.length; at += 1) {
    const code = program.readUInt16LE(at * 8);
    const [ifTrue, ifFalse] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const value = program.readUInt32LE(at * 8 + 4);
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x15) at += accumulator === value ? ifTrue : ifFalse;
    else if (code === 0x35) at += accumulator >= value ? ifTrue : ifFalse;
    else if (code === 0x06) return { 0x7fff0000: "allow", 0x00050001: "EPERM", 0x80000000: "kill" }[value];
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the program ran off its end");
}

describe.runIf(process.platform === "linux")("without a network", () => {
  const run = (call: number, ...args: number[]) => verdict(offlineFilter(), call, args);

  test("only unix sockets are made, and none is connected", () => {
    expect(run(NUMBERS.read)).toBe("allow");
    expect(run(NUMBERS.connect)).toBe("EPERM");
    expect([run(NUMBERS.socket, UNIX, STREAM), run(NUMBERS.socketpair, UNIX, DGRAM)]).toEqual([
      "allow",
      "allow",
    ]);
    for (const family of [INET, INET6, NETLINK, VSOCK])
      expect(run(NUMBERS.socket, family, STREAM)).toBe("EPERM");
  });
});

describe.runIf(process.platform === "linux")("with a proxy", () => {
  const run = (call: number, ...args: number[]) => verdict(proxiedFilter(), call, args);

  test("only internet sockets are made, which lead nowhere but there", () => {
    expect([run(NUMBERS.read), run(NUMBERS.connect)]).toEqual(["allow", "allow"]);
    for (const family of [INET, INET6]) expect(run(NUMBERS.socket, family, STREAM | FLAGS)).toBe("allow");
    for (const family of [UNIX, NETLINK, PACKET, VSOCK, 0, 38, 43, 0xffffffff])
      expect([family, run(NUMBERS.socket, family, STREAM)]).toEqual([family, "EPERM"]);
  });

  test("a pair is for itself: of a kind that can't be turned to a path", () => {
    for (const type of [STREAM, SEQPACKET, STREAM | FLAGS])
      expect(run(NUMBERS.socketpair, UNIX, type)).toBe("allow");
    for (const type of [DGRAM, RAW, DGRAM | FLAGS]) expect(run(NUMBERS.socketpair, UNIX, type)).toBe("EPERM");
  });

  test("other processes are out of reach, and so are other ABIs", () => {
    for (const call of [NUMBERS.ptrace, PIDFD_GETFD, 425]) expect(run(call)).toBe("EPERM");
    expect(verdict(proxiedFilter(), NUMBERS.socket, [UNIX], 0x40000003)).toBe("kill");
    expect(run(0x40000000 + NUMBERS.socket, UNIX)).toBe("EPERM");
  });
});

describe.runIf(process.platform === "linux")("with the network", () => {
  const run = (call: number, ...args: number[]) => verdict(onlineFilter(), call, args);

  test("the families of ordinary programs are allowed, and no others", () => {
    expect([run(NUMBERS.read), run(NUMBERS.connect)]).toEqual(["allow", "allow"]);
    for (const family of [UNIX, INET, INET6, NETLINK])
      expect([family, run(NUMBERS.socket, family, STREAM | FLAGS)]).toEqual([family, "allow"]);
    for (const family of [PACKET, VSOCK, 38, 44, 0xffffffff])
      expect([family, run(NUMBERS.socket, family, STREAM)]).toEqual([family, "EPERM"]);
    expect(run(NUMBERS.socketpair, VSOCK, STREAM)).toBe("EPERM");
  });

  test("other processes are out of reach, and so are ways around the filter", () => {
    const around = [NUMBERS.ptrace, NUMBERS.userfaultfd, PIDFD_GETFD, 425, 426, 427];
    for (const call of around) expect([call, run(call)]).toEqual([call, "EPERM"]);
    expect(verdict(onlineFilter(), NUMBERS.socket, [UNIX], 0x40000003)).toBe("kill");
    expect(run(0x40000000 + NUMBERS.socket, VSOCK)).toBe("EPERM");
  });
});
