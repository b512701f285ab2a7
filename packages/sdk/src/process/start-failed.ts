import { existsSync } from "node:fs";
import { CodexError } from "../errors.ts";
import { codexName } from "./explain-start-failure.ts";
import type { FoundCodex } from "./find-codex.ts";

/** What the system said when it was asked to run a codex, in words that help. */
export function startFailed(codex: FoundCodex, cause: NodeJS.ErrnoException): CodexError {
  const { path } = codex;
  const where = codexName(codex);
  switch (cause.code) {
    case "ENOENT":
      return existsSync(path)
        ? new CodexError("codex_start_failed", `${where} can't be run: its interpreter is missing.`, {
            cause,
          })
        : new CodexError("codex_not_found", `${where} is gone.`, { cause });
    case "EACCES":
    case "EPERM":
      return new CodexError(
        "codex_start_failed",
        `${where} may not be run: no permission, or a noexec disk.`,
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
