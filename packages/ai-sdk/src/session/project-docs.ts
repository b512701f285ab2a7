import { statSync } from "node:fs";
import { dirname, join } from "node:path";

const NAMES = ["AGENTS.override.md", "AGENTS.md"];

export interface ProjectDocPlaces {
  /** The thread's folder. */
  readonly cwd: string;
  readonly codexHome: string;
  /** Alternative names for AGENTS.md from the user's configuration. */
  readonly otherNames: readonly string[];
}

/**
 * Returns the state of the instruction files that Codex reads when a thread starts: AGENTS.md in the thread's folder, its parents
 * and Codex's home. If a later result is equal, a thread started at the earlier time is still up to date.
 */
export function projectDocState({ cwd, codexHome, otherNames }: ProjectDocPlaces): string {
  return [codexHome, ...foldersUpFrom(cwd)]
    .flatMap((folder) => [...NAMES, ...otherNames].map((name) => fileState(join(folder, name))))
    .join(" ");
}

function foldersUpFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUpFrom(above)];
}

/** Uses nanoseconds, because an edit may keep the size and follow another within a millisecond. */
function fileState(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? "-" : `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}
