// Part of the file helper: imports nothing from outside this package's own folder.
import { type Stats, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import type { NativePath } from "../wire/path-uri.ts";

const PROC = "/proc";

let device: number | undefined;

/** Whether an open file is in a file system that describes this machine's processes. */
export function isInProc({ dev }: Pick<Stats, "dev">): boolean {
  device ??= statSync(PROC, { throwIfNoEntry: false })?.dev ?? -1;
  return dev === device;
}

/** Whether a path currently leads to such a file. */
export async function leadsToProc(path: NativePath): Promise<boolean> {
  const real = await realpath(path, { encoding: "utf8" }).catch(() => String(path));
  return real === PROC || real.startsWith(`${PROC}/`);
}
