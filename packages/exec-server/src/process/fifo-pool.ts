import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Our end of a pipe whose other end a child opens by its path. */
export interface Pipe {
  readonly path: string;
  readonly fd: number;
  /** Every end is closed: the pipe is empty and can serve again. */
  reuse(): void;
  /** Someone may still hold an end: the pipe is never used again. */
  drop(): void;
}

/** As many as a hundred children at once need, made in one go while the server is still small. */
const BATCH = 256;

/**
 * Real pipes for children. Node's own are socket pairs, on which `/dev/stdout` and `/dev/stderr` can't be opened, and
 * scripts open them all the time. Named pipes are made in batches and serve again and again.
 */
export class FifoPool {
  readonly #folder: string;
  readonly #free: string[] = [];
  #made = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.#makeMore();
  }

  /** A pipe to read from. Until the child has opened its end, a read would see the end of the stream. */
  takeReader(): Pipe {
    const path = this.#take();
    return this.#pipe(path, openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  }

  /** A pipe to write to. Our own reading end, which lets both sides open theirs, closes with `opened`. */
  takeWriter(): Pipe & { opened(): void } {
    const path = this.#take();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const pipe = this.#pipe(path, openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return { ...pipe, opened: () => closeSync(reader) };
  }

  #pipe(path: string, fd: number): Pipe {
    return {
      path,
      fd,
      reuse: () => void this.#free.push(path),
      drop: () => rmSync(path, { force: true }),
    };
  }

  #take(): string {
    const path = this.#free.pop();
    if (path !== undefined) return path;
    this.#makeMore();
    return this.#take();
  }

  #makeMore(): void {
    const paths = Array.from({ length: BATCH }, (_, index) => join(this.#folder, `p${this.#made + index}`));
    execFileSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore" });
    this.#made += BATCH;
    this.#free.push(...paths);
  }
}
