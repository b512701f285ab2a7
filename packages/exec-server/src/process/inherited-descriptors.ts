import { readdirSync, readFileSync } from "node:fs";

/**
 * Node sets this flag on every descriptor that it opens. A descriptor without it was inherited or is passed
 * on intentionally.
 */
const O_CLOEXEC = 0o2000000;

/**
 * Returns the descriptors of this process that its children would inherit. Imported by the launcher, so it
 * imports only Node modules.
 */
export function inheritedDescriptors(): readonly number[] {
  return namesIn("/proc/self/fd")
    .map(Number)
    .filter((fd) => {
      const flags = flagsOf(fd);
      return flags !== undefined && (flags & O_CLOEXEC) === 0;
    });
}

function flagsOf(fd: number): number | undefined {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${fd}`, "latin1");
    const octal = /^flags:\s*(?<octal>[0-7]+)$/m.exec(text)?.groups?.["octal"];
    return octal === undefined ? undefined : Number.parseInt(octal, 8);
  } catch {
    return undefined; // It has been closed, as is always the case for the one that the folder was read with.
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // This is not Linux.
  }
}
