import { statSync } from "node:fs";
import { dirname, join } from "node:path";

const NAMES = ["AGENTS.override.md", "AGENTS.md"];

export interface ProjectDocPlaces {
  /** The folder of a thread. */
  readonly cwd: string;
  readonly codexHome: string;
  /** Other names that the user's configuration gives to AGENTS.md. */
  readonly otherNames: readonly string[];
}

/**
 * The state of the instruction files that Codex reads when a thread starts: AGENTS.md in the thread's folder, its parents and
 * Codex's home. If two results are equal, a thread started at the first one is still up to date.
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

/** In nanoseconds: an edit may keep the size and follow another within a millisecond. */
function fileState(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? "-" : `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}
