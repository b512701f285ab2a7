import { closeSync } from "node:fs";
import { createRequire } from "node:module";
import { ReadStream } from "node:tty";
import type { Child, ChildEvents, ChildSpec } from "./child.ts";
import { findProgram } from "./find-program.ts";
import type { Launcher } from "./launcher.ts";
import { stdinWriter } from "./stdin-writer.ts";

/** The part of node-pty that makes a PTY without starting anything on it. */
interface PtyBinding {
  open(columns: number, rows: number): { master: number; slave: number; pty: string };
}

const COLUMNS = 80;
const ROWS = 24;

/** Exit code that Codex reports for a PTY whose program was killed by a signal. */
const KILLED_EXIT_CODE = 1;

/**
 * Opens the terminal in a new session, which makes it the controlling terminal, and then executes the
 * program. `$0` is the terminal. A custom `arg0` requires bash for `exec -a`.
 */
const ATTACH = 'exec "$@" <>"$0" >&0 2>&0';
const ATTACH_AS = 'exec -a "$1" "${@:2}" <>"$0" >&0 2>&0';

/**
 * Shared by all reads. Exactly as large as what a PTY returns at once: Node reads again immediately only if a
 * read has filled the buffer. That next read waits for the kernel to refill the PTY, which is shorter than a
 * turn of the event loop.
 */
const readBuffer = Buffer.allocUnsafeSlow(4095);

let binding: PtyBinding | undefined;

/**
 * Starts a child on a PTY. node-pty only creates the PTY: its `spawn` would fork the whole server, and it
 * closes the terminal 200 ms after the child's exit, even if there is unread output.
 */
export async function spawnPty(
  spec: ChildSpec,
  { launcher }: { launcher: Launcher },
  events: ChildEvents,
): Promise<Child> {
  const [name, ...args] = spec.argv;
  // The shell in between would report a missing program as text in the output.
  const program = findProgram(name, spec.cwd, spec.env);
  const { master, slave, pty } = loadBinding().open(COLUMNS, ROWS);
  const attach =
    spec.arg0 === undefined
      ? ["/bin/sh", "-c", ATTACH, pty, program, ...args]
      : ["/bin/bash", "-c", ATTACH_AS, pty, spec.arg0, program, ...args];
  const files = [null, null, null, ...spec.extraFiles.map((path) => ({ path, mode: "r" as const }))];
  const launched = await launcher
    .launch({ argv: attach, arg0: undefined, cwd: spec.cwd, env: spec.env, files }, spec.listeners)
    .catch((error: unknown) => {
      closeSync(master);
      closeSync(slave);
      throw error;
    });
  const output = (length: number, buffer: Uint8Array): boolean => {
    events.output("pty", (buffer as Buffer).subarray(0, length));
    return true;
  };
  const stream = new ReadStream(master, { onread: { buffer: readBuffer, callback: output } });
  let slaveOpen = true;
  const closeSlave = (): void => {
    if (slaveOpen) closeSync(slave);
    slaveOpen = false;
  };
  // Kept open until the child exits: if all slave descriptors were closed before the child opens its own, the PTY would end.
  void launched.exited.then(({ code, signalled }) => {
    closeSlave();
    events.exited(signalled ? KILLED_EXIT_CODE : code);
  });
  stream.resume();
  // Linux reports EIO when the last slave descriptor has been closed.
  stream.on("error", () => stream.destroy());
  stream.on("end", () => stream.destroy());
  stream.on("close", () => {
    closeSlave();
    events.drained();
  });
  return {
    pid: launched.pid,
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    stdin: stdinWriter(stream),
    abandon: () => stream.destroy(),
  };
}

function loadBinding(): PtyBinding {
  if (binding) return binding;
  const require = createRequire(import.meta.url);
  const { requireBinary } = require("@lydell/node-pty/requireBinary.js") as {
    requireBinary: (file: string) => PtyBinding;
  };
  binding = requireBinary("pty.node");
  return binding;
}
