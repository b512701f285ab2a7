import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type NamelessFile, removeName } from "./nameless-file.ts";

/** Our end of a pipe whose other end a child opens by its path. */
export interface Pipe {
  readonly path: string;
  readonly fd: number;
  /** Every end is closed: the pipe is empty and can serve again. */
  reuse(): void;
  /** Another process may still hold an end: the pipe is never used again. */
  drop(): void;
}

type Fifo = NamelessFile;

/** As many as a hundred children at once need, made in one go while the server is still small. */
const BATCH = 256;

/**
 * Real pipes for children. Node's own are socket pairs, on which `/dev/stdout` and `/dev/stderr` can't be opened, and
 * scripts open them all the time. Named pipes are made in batches and reused. On Linux they lose their names at once: a
 * pipe can be written through a read-only mount, so a sandbox that saw its name could write to it.
 */
export class FifoPool implements Disposable {
  readonly #folder: { readonly path: string; ensure(): void };
  readonly #free: Fifo[] = [];
  #made = 0;
  #isDisposed = false;

  constructor(folder: { readonly path: string; ensure(): void }) {
    this.#folder = folder;
    this.#makeMore();
  }

  /** A pipe to read from. Until the child has opened its end, a read would see the end of the stream. */
  takeReader(): Pipe {
    const fifo = this.#take();
    return this.#pipe(fifo, openSync(fifo.path, constants.O_RDONLY | constants.O_NONBLOCK));
  }

  /** A pipe to write to. Our own reading end, which lets both sides open theirs, closes with `opened`. */
  takeWriter(): Pipe & { opened(): void } {
    const fifo = this.#take();
    const reader = openSync(fifo.path, constants.O_RDONLY | constants.O_NONBLOCK);
    const pipe = this.#pipe(fifo, openSync(fifo.path, constants.O_WRONLY | constants.O_NONBLOCK));
    return { ...pipe, opened: () => closeSync(reader) };
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const fifo of this.#free.splice(0)) fifo[Symbol.dispose]();
  }

  #pipe(fifo: Fifo, fd: number): Pipe {
    return {
      path: fifo.path,
      fd,
      reuse: () => {
        if (this.#isDisposed) fifo[Symbol.dispose]();
        else this.#free.push(fifo);
      },
      drop: () => fifo[Symbol.dispose](),
    };
  }

  #take(): Fifo {
    const fifo = this.#free.pop();
    if (fifo) return fifo;
    this.#makeMore();
    return this.#take();
  }

  #makeMore(): void {
    this.#folder.ensure();
    const { path: folder } = this.#folder;
    const paths = Array.from({ length: BATCH }, (_, index) => join(folder, `p${this.#made + index}`));
    execFileSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore" });
    this.#made += BATCH;
    for (const path of paths) this.#free.push(asFifo(path));
  }
}

function asFifo(path: string): Fifo {
  if (process.platform === "linux") return removeName(path);
  return { path, [Symbol.dispose]: () => rmSync(path, { force: true }) };
}
