import { existsSync } from "node:fs";
import { CodexError } from "../errors.ts";
import { describeCodex } from "./explain-start-failure.ts";
import type { FoundCodex } from "./find-codex.ts";

/** Explains the system's error for a codex that could not be started. */
export function explainSpawnError(codex: FoundCodex, cause: NodeJS.ErrnoException): CodexError {
  const { path } = codex;
  const where = describeCodex(codex);
  switch (cause.code) {
    case "ENOENT":
      return existsSync(path)
        ? new CodexError("codex_start_failed", `${where} can't be run: its interpreter is missing.`, {
            cause,
          })
        : new CodexError("codex_not_found", `${where} no longer exists.`, { cause });
    case "EACCES":
    case "EPERM":
      return new CodexError(
        "codex_start_failed",
        `${where} can't be run: permission denied, or the file system is mounted noexec.`,
        { cause },
      );
    case "E2BIG":
      return new CodexError("codex_start_failed", `${where}: the settings are too long for a command line.`, {
        cause,
      });
    case undefined:
    default:
      return new CodexError("codex_start_failed", `${where} could not be started: ${cause.message}`, {
        cause,
      });
  }
}
