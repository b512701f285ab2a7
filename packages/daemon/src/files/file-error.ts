import { DaemonError } from "../errors.ts";

/**
 * The same response for a path that is missing, outside the roots, or not searchable, so that a client can't find out
 * what exists outside the roots.
 */
export function fileNotFound(path: string): DaemonError {
  return new DaemonError(
    "file_not_found",
    `"${path}" does not exist or is outside the folders that this daemon serves.`,
  );
}

const DENIED = new Set(["EACCES", "EPERM", "EROFS", "ETXTBSY"]);
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Converts the error of a failed call on a path inside the roots to a problem. Other errors are returned unchanged. */
export function toFileError(error: unknown, path: string): unknown {
  if (DaemonError.is(error)) return error;
  const code = errorCode(error);
  if (code === undefined) return error;
  const options = { cause: error };
  if (DENIED.has(code)) {
    return new DaemonError("file_access_denied", `The daemon has no access to "${path}": ${code}.`, options);
  }
  if (FULL.has(code)) {
    return new DaemonError("disk_full", `There is not enough disk space for "${path}": ${code}.`, options);
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
  return new DaemonError("wrong_file_type", `"${path}" is ${found}. Only regular files can be read.`);
}

export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}
