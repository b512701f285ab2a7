import { DaemonError } from "../errors.ts";

/**
 * The same answer for a path that is missing, that leads out of the roots, and that can't be searched: outside the roots, a client
 * can't find out what exists.
 */
export function fileNotFound(path: string): DaemonError {
  return new DaemonError(
    "file_not_found",
    `"${path}" does not exist, or is outside the folders that this daemon serves.`,
  );
}

const DENIED = new Set(["EACCES", "EPERM", "EROFS", "ETXTBSY"]);
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** The problem of a failed call on a path that is inside the roots. Other errors are returned as they are. */
export function toFileError(error: unknown, path: string): unknown {
  if (DaemonError.is(error)) return error;
  const code = errorCode(error);
  if (code === undefined) return error;
  const options = { cause: error };
  if (DENIED.has(code)) {
    return new DaemonError("file_access_denied", `The daemon may not access "${path}": ${code}.`, options);
  }
  if (FULL.has(code)) {
    return new DaemonError("disk_full", `There is no space for "${path}": ${code}.`, options);
  }
  if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "ESTALE"].includes(code)) return fileNotFound(path);
  if (code === "EISDIR") return wrongType(path, "a folder");
  if (code === "EMFILE" || code === "ENFILE") {
    return new DaemonError("too_many_connections", "Too many files are open. Try again later.", {
      ...options,
      details: { retryAfter: 5 },
    });
  }
  return error;
}

export function wrongType(path: string, found: string): DaemonError {
  return new DaemonError("wrong_file_type", `"${path}" is ${found}. Only regular files have contents.`);
}

export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}
