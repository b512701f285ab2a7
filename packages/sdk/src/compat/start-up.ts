import { readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, parse } from "node:path";

/** What the start of a codex depends on, besides its options and environment. */
export interface StartUp {
  /** The folder that it is started in. */
  readonly cwd: string;
  /** Identifies the content of the files that it reads only when it starts. A turn after a change starts another codex. */
  readonly files: string;
}

/** Where an administrator configures Codex. */
const SYSTEM_FOLDER = "/etc/codex";

/**
 * Codex reads most files again for every thread that it loads. Only at its start does it read credentials, and warn of its
 * configuration: that of the user and that of the project which it is started in. So a folder of a project with a
 * configuration has a codex of its own; all others share one, which is started in no project.
 */
export function startUp(folder: string, env: Readonly<Record<string, string>>): StartUp {
  const home = env["CODEX_HOME"] || join(env["HOME"] ?? homedir(), ".codex");
  const projects = projectFolders(folder, home);
  const hasProject = projects.length > 0;
  const config = readText(join(home, "config.toml"));
  return {
    cwd: hasProject ? folder : parse(folder).root,
    files: JSON.stringify([
      hasProject ? config : withoutProjects(config),
      ...["auth.json", "managed_config.toml"].map((name) => version(join(home, name))),
      ...["managed_config.toml", "requirements.toml"].map((name) => version(join(SYSTEM_FOLDER, name))),
      ...[SYSTEM_FOLDER, ...projects].map((place) => readText(join(place, "config.toml"))),
      ...[home, SYSTEM_FOLDER, ...projects].flatMap((place) =>
        ["agents", "rules"].flatMap((name) => versions(join(place, name))),
      ),
    ]),
  };
}

/** The folders of project configuration for a folder: any of those above it may hold one. */
function projectFolders(folder: string, home: string): string[] {
  const config = join(folder, ".codex");
  // Sandboxes leave empty folders of this name behind.
  const here = config !== home && list(config).length > 0 ? [config] : [];
  const above = dirname(folder);
  return above === folder ? here : [...here, ...projectFolders(above, home)];
}

/** Codex itself adds the folders that it works in to the configuration; where no project is configured that is no change. */
function withoutProjects(config: string): string {
  return config
    .replaceAll(/^\[projects\..*(?:\n(?!\[).*)*/gm, "")
    .replaceAll(/\n+/g, "\n")
    .trimEnd();
}

function versions(folder: string): string[] {
  return list(folder).map((name) => `${name} ${version(join(folder, name))}`);
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function version(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";
}
