import { type Machine, pathModule, readVariable } from "./machine.ts";

/** Windows' default for PATHEXT. */
const WINDOWS_ENDINGS = ".COM;.EXE;.BAT;.CMD";

/** Finds the first executable file with this name on PATH, as the system does. */
export function searchPath(machine: Machine, name: string): string | undefined {
  const rules = pathModule(machine);
  const folders = (readVariable(machine, "PATH") ?? "").split(rules.delimiter).map(unquote);
  for (const folder of folders) {
    // An empty or relative entry means the working directory, which may be an untrusted repository.
    if (!rules.isAbsolute(folder)) continue;
    for (const file of listFileNames(machine, name)) {
      const path = rules.join(folder, file);
      if (machine.inspectPath(path) === "executable") return path;
    }
  }
  return undefined;
}

/** Returns the file names that a program can have. */
export function listFileNames(machine: Machine, name: string): string[] {
  if (machine.platform !== "win32") return [name];
  const endings = (readVariable(machine, "PATHEXT") || WINDOWS_ENDINGS)
    .toLowerCase()
    .split(";")
    .filter(Boolean);
  // The file without an extension next to `codex.cmd` is npm's script for Git Bash, which Windows can't run.
  if (endings.some((ending) => name.toLowerCase().endsWith(ending))) return [name];
  return endings.map((ending) => name + ending);
}

/** Removes the quotes that Windows allows around an entry. */
function unquote(folder: string): string {
  return folder.startsWith('"') && folder.endsWith('"') ? folder.slice(1, -1) : folder;
}
