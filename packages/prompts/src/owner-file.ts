import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { pidExists, processTable } from "codexkit/process";
import { z } from "zod";

const schema = z.object({ namespace: z.string(), pid: z.int(), start: z.string() });

/** Records in a file that this process owns a folder or a file. With the flag `wx`, fails if the file already exists. */
export function writeOwner(path: string, flag: "w" | "wx" = "w"): void {
  const table = processTable();
  const start = table.one(process.pid)?.start ?? "";
  writeFileSync(path, JSON.stringify({ namespace: table.namespace(), pid: process.pid, start }), {
    mode: 0o600,
    flag,
  });
}

/** Whether the owner has ended. False if unknown, for example if the owner is on another machine. */
export function hasOwnerEnded(path: string): boolean {
  const owner = readOwner(path);
  if (!owner) return false;
  const table = processTable();
  if (owner.namespace !== table.namespace()) return false;
  if (!pidExists(owner.pid)) return true;
  const running = table.one(owner.pid);
  // A different start time means that the PID has been reused.
  return running !== undefined && owner.start !== "" && running.start !== owner.start;
}

function readOwner(path: string): z.output<typeof schema> | undefined {
  let fd: number | undefined;
  try {
    // Non-blocking, in case the path is a pipe.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return fstatSync(fd).isFile() ? schema.parse(JSON.parse(readFileSync(fd, "utf8"))) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
