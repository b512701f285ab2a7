import type { Server } from "node:net";
import type { OutputStream } from "../wire/exec-wire.ts";

/** Listening sockets that a child opens in its own network namespace and passes to the server. */
export interface NamespaceListeners {
  readonly open: readonly { readonly name: string; readonly port: number }[];
  received(name: string, listener: Server): void;
}

/** What to run. */
export interface ChildSpec {
  readonly argv: readonly [string, ...string[]];
  readonly arg0: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pipeStdin: boolean;
  /** Files that the child gets to read as fd 3 and up. */
  readonly extraFiles: readonly string[];
  /** For a child that begins with `namespace-entry`. */
  readonly listeners?: NamespaceListeners | undefined;
}

/** Events of a child. `exited` and `drained` occur once each, in any order; `drained` is the last output event. */
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
