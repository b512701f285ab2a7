import type { Server } from "node:net";
import type { OutputStream } from "../wire/exec-wire.ts";

/** Sockets that a child opens in a network of its own and hands out, to be answered on this side. */
export interface Doors {
  readonly open: readonly { readonly name: string; readonly port: number }[];
  taken(name: string, door: Server): void;
}

/** What is to be run, with everything decided. */
export interface ChildSpec {
  readonly argv: readonly [string, ...string[]];
  readonly arg0: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pipeStdin: boolean;
  /** Files that the child gets to read as fd 3 and up. */
  readonly extraFiles: readonly string[];
  /** For a child that begins with `namespace-entry`. */
  readonly doors?: Doors | undefined;
}

/** What a child tells. `exited` and `drained` come once each, in any order; no output comes behind `drained`. */
export interface ChildEvents {
  /** The bytes are lent: they are overwritten by the next read. */
  output(stream: OutputStream, bytes: Buffer): void;
  exited(exitCode: number): void;
  /** Every output stream came to its end. */
  drained(): void;
}

/** A child that runs, alone in a session and a process group of its own. */
export interface Child {
  readonly pid: number;
  /** Stops and starts reading its output: a child that is not read waits when its pipe is full. */
  pause(): void;
  resume(): void;
  /** Writes to its stdin; a promise comes back when the child reads slowly. Undefined stdin: it has none. */
  readonly stdin: { write(bytes: Buffer): Promise<void> | undefined } | undefined;
  /** Reads no more: what is still in the pipes is lost, and `drained` follows. */
  abandon(): void;
}
