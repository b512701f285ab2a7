import { CODES, Refusal } from "./refusal.ts";
import { getSystemErrorMap } from "node:util";

/** System errors that report a forbidden request rather than a failure. */
const REFUSALS = new Set(["EACCES", "EPERM", "EINVAL"]);

/** Converts a file system error to the answer that Codex sends for it. Other errors are returned unchanged. */
export function osFailure(thrown: unknown): unknown {
  return asRefusal(thrown, codeOf);
}

/** Converts a failure to start a process, which has the same code regardless of the reason. */
export function spawnFailure(thrown: unknown): unknown {
  return asRefusal(thrown, () => CODES.internal);
}

function asRefusal(thrown: unknown, code: (errno: string) => number): unknown {
  if (!(thrown instanceof Error) || thrown instanceof Refusal) return thrown;
  const { code: name, errno } = thrown as NodeJS.ErrnoException;
  if (name === undefined || errno === undefined) return thrown;
  return new Refusal(code(name), osMessage(errno));
}

/** Returns the system's error message in Codex's form: `No such file or directory (os error 2)`. */
export function osMessage(errno: number): string {
  const words = getSystemErrorMap().get(errno)?.[1] ?? "unknown error";
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} (os error ${-errno})`;
}

function codeOf(code: string): number {
  if (code === "ENOENT") return CODES.notFound;
  return REFUSALS.has(code) ? CODES.invalidRequest : CODES.internal;
}
