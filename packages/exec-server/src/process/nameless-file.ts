import { closeSync, constants, openSync, unlinkSync, writeFileSync } from "node:fs";

/** Refers to a file without opening it for reading or writing. Not in Node's own constants. */
const O_PATH = 0o10000000;

/** A file that has no name in the file system any more. It exists until it is disposed of. */
export interface NamelessFile extends Disposable {
  /** Path under which processes of the same user outside sandboxes can open it. */
  readonly path: string;
}

/**
 * Removes the name of a file and keeps the file. No sandbox can open it then, whatever part of the file system it sees:
 * `/proc/PID/fd` is readable only from the same user namespace. Linux only.
 */
export function removeName(path: string): NamelessFile {
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  unlinkSync(path);
  return { path: `/proc/${process.pid}/fd/${fd}`, [Symbol.dispose]: () => closeSync(fd) };
}

/** Creates a file with some content and without a name. */
export function createNamelessFile(path: string, content: Buffer): NamelessFile {
  writeFileSync(path, content, { mode: 0o600 });
  return removeName(path);
}
