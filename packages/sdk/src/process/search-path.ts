import { type FindWorld, pathRules, variable } from "./find-world.ts";

/** What Windows runs when PATHEXT does not say. */
const WINDOWS_ENDINGS = ".COM;.EXE;.BAT;.CMD";

/** The first file of a name on PATH that can be run, as the system's own search would find it. */
export function searchPath(world: FindWorld, name: string): string | undefined {
  const rules = pathRules(world);
  const folders = (variable(world, "PATH") ?? "").split(rules.delimiter).map(unquoted);
  for (const folder of folders) {
    // An empty or relative entry means the folder at hand: what lies in a stranger's repository is not to be run.
    if (!rules.isAbsolute(folder)) continue;
    for (const file of fileNames(world, name)) {
      const path = rules.join(folder, file);
      if (world.look(path) === "executable") return path;
    }
  }
  return undefined;
}

/** The names under which a program may lie in a folder. */
export function fileNames(world: FindWorld, name: string): string[] {
  if (world.platform !== "win32") return [name];
  const endings = (variable(world, "PATHEXT") || WINDOWS_ENDINGS).toLowerCase().split(";").filter(Boolean);
  // A file without an ending beside `codex.cmd` is npm's script for Git Bash, which Windows can't run.
  if (endings.some((ending) => name.toLowerCase().endsWith(ending))) return [name];
  return endings.map((ending) => name + ending);
}

/** Windows allows quotes around an entry. */
function unquoted(folder: string): string {
  return folder.startsWith('"') && folder.endsWith('"') ? folder.slice(1, -1) : folder;
}
