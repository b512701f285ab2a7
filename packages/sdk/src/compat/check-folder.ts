import { statSync } from "node:fs";
import { resolve } from "node:path";
import { exitError, PROMPT_LINE } from "./errors.ts";
import type { ThreadOptions } from "./options.ts";
import { repositoryOf } from "./repository.ts";

/** The folder of the options, absolute. Refuses one that is not there. */
export function workingFolder({ workingDirectory }: ThreadOptions): string {
  const folder = resolve(workingDirectory || ".");
  if (!statSync(folder, { throwIfNoEntry: false })) {
    throw exitError("code 1", "Error: No such file or directory (os error 2)\n");
  }
  return folder;
}

/** Refuses a folder in no Git repository, where a change could not be taken back, unless the program said not to look. */
export function checkRepository(folder: string, { skipGitRepoCheck }: ThreadOptions): void {
  if (skipGitRepoCheck || repositoryOf(folder) !== undefined) return;
  const words = "Not inside a trusted directory and --skip-git-repo-check was not specified.\n";
  throw exitError("code 1", `${PROMPT_LINE}${words}`);
}
