import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type NamelessFile, removeName } from "./nameless-file.ts";

/** The server's end of a pipe. The child opens the other end by its path. */
export interface Pipe {
  readonly path: string;
  readonly fd: number;
  /** Every end is closed, so the pipe is empty and can be used again. */
  reuse(): void;
  /** Another process may still have an end open, so the pipe must not be used again. */
  drop(): void;
}

type Fifo = NamelessFile;

/**
 * Number of pipes that are created at once, because starting `mkfifo` is slow. The first batch is enough for ten concurrent children;
 * each further one is twice as large, up to the largest. A pipe takes up to 2 ms in a file system with many deleted files.
 */
const BATCH = { first: 32, largest: 256 } as const;

/**
 * Real pipes for children. Node's own pipes are socket pairs, on which `/dev/stdout` and `/dev/stderr` can't
 * be opened, as scripts often do. Named pipes are created in batches and reused. On Linux their names are
 * removed immediately: a pipe can be written through a read-only mount, so a sandbox that saw its name could
 * write to it.
 */
export class FifoPool implements Disposable {
  readonly #folder: { readonly path: string; ensure(): void };
  readonly #free: Fifo[] = [];
  #made = 0;
  #batch: number = BATCH.first;
  #isDisposed = false;

  constructor(folder: { readonly path: string; ensure(): void }) {
    this.#folder = folder;
    this.#makeMore();
  }

  /** Acquires a pipe to read from. Reading before the child has opened its end would return end-of-file. */
  acquireReader(): Pipe {
    const fifo = this.#acquire();
    return this.#pipe(fifo, openSync(fifo.path, constants.O_RDONLY | constants.O_NONBLOCK));
  }

  /**
   * Acquires a pipe to write to. It can't be opened for writing without a temporary reading end, which
   * `opened` closes.
   */
  acquireWriter(): Pipe & { opened(): void } {
    const fifo = this.#acquire();
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

  #acquire(): Fifo {
    const fifo = this.#free.pop();
    if (fifo) return fifo;
    this.#makeMore();
    return this.#acquire();
  }

  #makeMore(): void {
    this.#folder.ensure();
    const { path: folder } = this.#folder;
    const paths = Array.from({ length: this.#batch }, (_, index) => join(folder, `p${this.#made + index}`));
    execFileSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore" });
    this.#made += this.#batch;
    this.#batch = Math.min(this.#batch * 2, BATCH.largest);
    for (const path of paths) this.#free.push(asFifo(path));
  }
}

function asFifo(path: string): Fifo {
  if (process.platform === "linux") return removeName(path);
  return { path, [Symbol.dispose]: () => rmSync(path, { force: true }) };
}
