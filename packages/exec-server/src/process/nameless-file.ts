import { closeSync, constants, openSync, unlinkSync, writeFileSync } from "node:fs";
import { O_PATH } from "../linux-constants.ts";

/** A file that no longer has a name in the file system. It exists until it is disposed of. */
export interface NamelessFile extends Disposable {
  /** Path under which processes of the same user outside sandboxes can open it. */
  readonly path: string;
}

/**
 * Removes the name of a file but keeps the file open. No sandbox can then open it, whatever part of the file
 * system it sees: `/proc/PID/fd` is readable only from the same user namespace. Linux only.
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
