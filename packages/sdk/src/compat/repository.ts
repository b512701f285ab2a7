import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";

/** The folder of the Git repository or worktree that a folder is in. */
export function repositoryOf(folder: string): string | undefined {
  const git = join(folder, ".git");
  const found = statSync(git, { throwIfNoEntry: false });
  // A worktree has a file there. A folder without a HEAD is no repository: sandboxes leave empty ones behind.
  if (found && (!found.isDirectory() || existsSync(join(git, "HEAD")))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : repositoryOf(above);
}

/** The same, but for a worktree the repository that it belongs to: trust is given to that. */
export function mainRepositoryOf(folder: string): string | undefined {
  const repository = repositoryOf(folder);
  if (repository === undefined) return undefined;
  const git = join(repository, ".git");
  if (statSync(git).isDirectory()) return repository;
  const place = /^gitdir: (?<path>.+)$/m.exec(readFileSync(git, "utf8"))?.groups?.["path"];
  const [main, worktree] = resolve(repository, place ?? "").split(`${sep}.git${sep}worktrees${sep}`);
  return worktree === undefined ? repository : main;
}
