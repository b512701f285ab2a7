import type { Server } from "node:net";
import type { OutputStream } from "../wire/exec-wire.ts";

/** Listening sockets that a child opens in its own network namespace and passes to the server. */
export interface NamespaceListeners {
  readonly open: readonly { readonly name: string; readonly port: number }[];
  received(name: string, listener: Server): void;
}

/** A command to start. */
export interface ChildSpec {
  readonly argv: readonly [string, ...string[]];
  readonly arg0: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pipeStdin: boolean;
  /** Files that are opened for reading as descriptors 3 and up. */
  readonly extraFiles: readonly string[];
  /** Only for a child that starts with `namespace-entry`. */
  readonly listeners?: NamespaceListeners | undefined;
}

/** Events of a child. `exited` and `drained` occur once each, in any order; `drained` is the last output event. */
export interface ChildEvents {
  /** The bytes are valid until the callback returns: the next read overwrites them. */
  output(stream: OutputStream, bytes: Buffer): void;
  exited(exitCode: number): void;
  /** All output streams have ended. */
  drained(): void;
}

/** A running child, with its own session and process group. */
export interface Child {
  readonly pid: number;
  /** Stops and resumes reading the output. An unread child blocks when its pipe is full. */
  pause(): void;
  resume(): void;
  /** Writes to stdin. Returns a promise if the child reads slowly. Undefined if the child has no stdin. */
  readonly stdin: { write(bytes: Buffer): Promise<void> | undefined } | undefined;
  /** Stops reading for good. Output that is still in the pipes is lost, and `drained` follows. */
  abandon(): void;
}
