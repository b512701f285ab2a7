import { statSync } from "node:fs";
import { resolve } from "node:path";
import { exitError, PROMPT_LINE } from "./errors.ts";
import type { ThreadOptions } from "./options.ts";
import { findRepository } from "./find-repository.ts";

/** Returns the absolute path of the working directory. Throws if it does not exist. */
export function resolveWorkingFolder({ workingDirectory }: ThreadOptions): string {
  const folder = resolve(workingDirectory || ".");
  if (!statSync(folder, { throwIfNoEntry: false })) {
    throw exitError("code 1", "Error: No such file or directory (os error 2)\n");
  }
  return folder;
}

/** Throws for a folder outside a Git repository, where changes can't be reverted, unless the check is disabled. */
export function checkRepository(folder: string, { skipGitRepoCheck }: ThreadOptions): void {
  if (skipGitRepoCheck || findRepository(folder) !== undefined) return;
  const message = "Not inside a trusted directory and --skip-git-repo-check was not specified.\n";
  throw exitError("code 1", `${PROMPT_LINE}${message}`);
}
