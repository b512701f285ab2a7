import type { Readable, Writable } from "node:stream";

import type { Framing } from "./framing.ts";

export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

/**
 * The common interface of all compared implementations. The measured work goes through it, and it adds
 * nothing.
 */
export interface Contender {
  readonly framing: Framing;
  open(streams: Streams, heard: ReadonlyMap<string, (params: unknown) => void>): Connection;
}

export interface Connection extends AsyncDisposable {
  call(method: string, params: object): Promise<unknown>;
}
