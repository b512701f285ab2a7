import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { EXEC_LIMITS } from "../limits.ts";
import type { OutputStream } from "../wire/exec-wire.ts";
import type { Child, ChildEvents, ChildSpec } from "./child.ts";
import type { FifoPool, Pipe } from "./fifo-pool.ts";
import { isLauncherLost, type Launcher } from "./launcher.ts";
import { stdinWriter } from "./stdin-writer.ts";

/** Starts a child on pipes. Rejects with the system's error if it can't be started. */
export async function spawnPiped(
  spec: ChildSpec,
  { launcher, fifos }: { launcher: Launcher; fifos: FifoPool },
  events: ChildEvents,
): Promise<Child> {
  const stdin = spec.pipeStdin ? fifos.acquireWriter() : undefined;
  const stdout = fifos.acquireReader();
  const stderr = fifos.acquireReader();
  const launched = await launcher
    .launch(
      {
        argv: spec.argv,
        arg0: spec.arg0,
        cwd: spec.cwd,
        env: spec.env,
        files: [
          stdin ? { path: stdin.path, mode: "r" } : null,
          { path: stdout.path, mode: "w" },
          { path: stderr.path, mode: "w" },
          ...spec.extraFiles.map((path) => ({ path, mode: "r" as const })),
        ],
      },
      spec.listeners,
    )
    .catch((error: unknown) => {
      for (const pipe of [stdout, stderr, ...(stdin ? [stdin] : [])]) {
        closeSync(pipe.fd);
        // If the launcher itself was lost, it may have started a child that holds the other end.
        if (isLauncherLost(error)) pipe.drop();
        else pipe.reuse();
      }
      throw error;
    })
    .finally(() => stdin?.opened());
  void launched.exited.then(({ code }) => events.exited(code));
  const input = stdin ? inputStream(stdin) : undefined;
  const outputs = new OutputStreams(events, () => input?.destroy());
  outputs.add("stdout", stdout);
  outputs.add("stderr", stderr);
  return {
    pid: launched.pid,
    pause: () => outputs.each((stream) => stream.pause()),
    resume: () => outputs.each((stream) => stream.resume()),
    stdin: input ? stdinWriter(input) : undefined,
    abandon: () => outputs.each((stream) => stream.destroy()),
  };
}

function inputStream(pipe: Pipe): Socket {
  const stream = new Socket({ fd: pipe.fd, readable: false, writable: true });
  // Not reusable, because the child may keep its end open forever.
  pipe.drop();
  return stream;
}

class OutputStreams {
  readonly #events: ChildEvents;
  readonly #onDrained: () => void;
  readonly #open = new Set<Socket>();

  constructor(events: ChildEvents, onDrained: () => void) {
    this.#events = events;
    this.#onDrained = onDrained;
  }

  add(name: OutputStream, pipe: Pipe): void {
    const output = (length: number, buffer: Uint8Array): boolean => {
      this.#events.output(name, (buffer as Buffer).subarray(0, length));
      return true;
    };
    const stream = new Socket({
      fd: pipe.fd,
      readable: true,
      writable: false,
      // One buffer for all reads: allocating one per read would create as much garbage as output.
      onread: { buffer: readBuffer, callback: output },
    });
    let ended = false;
    this.#open.add(stream);
    stream.on("error", () => {});
    stream.on("end", () => {
      ended = true;
      stream.destroy();
    });
    stream.on("close", () => {
      // A stream that ended has no writers left. A destroyed stream may still have some.
      if (ended) pipe.reuse();
      else pipe.drop();
      this.#open.delete(stream);
      if (this.#open.size > 0) return;
      this.#onDrained();
      this.#events.drained();
    });
    stream.resume();
  }

  each(act: (stream: Socket) => void): void {
    for (const stream of this.#open) act(stream);
  }
}

/** Shared by all reads. Its content is valid until the callback of a read returns. */
const readBuffer = Buffer.allocUnsafeSlow(EXEC_LIMITS.chunkBytes);
