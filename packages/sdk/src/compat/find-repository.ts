import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";

/** Finds the root of the Git repository or worktree that contains a folder. */
export function findRepository(folder: string): string | undefined {
  const git = join(folder, ".git");
  const found = statSync(git, { throwIfNoEntry: false });
  // A worktree has a `.git` file. A `.git` folder without a HEAD is not a repository: sandboxes leave empty ones behind.
  if (found && (!found.isDirectory() || existsSync(join(git, "HEAD")))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : findRepository(parent);
}

/** Finds the repository that contains a folder. For a worktree, its main repository, to which the trust level applies. */
export function findMainRepository(folder: string): string | undefined {
  const repository = findRepository(folder);
  if (repository === undefined) return undefined;
  const git = join(repository, ".git");
  if (statSync(git).isDirectory()) return repository;
  const gitDir = /^gitdir: (?<path>.+)$/m.exec(readFileSync(git, "utf8"))?.groups?.["path"];
  const [main, worktree] = resolve(repository, gitDir ?? "").split(`${sep}.git${sep}worktrees${sep}`);
  return worktree === undefined ? repository : main;
}
