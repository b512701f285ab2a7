import { readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, parse } from "node:path";

/** What starting codex depends on, besides its options and environment. */
export interface StartupFiles {
  /** The folder in which codex is started. */
  readonly cwd: string;
  /** Identifies the content of the files that codex reads only at startup. A turn after a change starts another codex. */
  readonly files: string;
}

/** The administrator's configuration folder. */
const SYSTEM_FOLDER = "/etc/codex";

/**
 * Codex rereads most files for every thread that it loads. Only at startup does it read credentials and emit warnings about the
 * configuration of the user and of the project in which it is started. So each folder of a project with a configuration gets its
 * own codex; all other folders share one, which is started outside any project.
 */
export function readStartupFiles(folder: string, env: Readonly<Record<string, string>>): StartupFiles {
  const home = env["CODEX_HOME"] || join(env["HOME"] ?? homedir(), ".codex");
  const projects = findProjectFolders(folder, home);
  const hasProject = projects.length > 0;
  const config = readText(join(home, "config.toml"));
  return {
    cwd: hasProject ? folder : parse(folder).root,
    files: JSON.stringify([
      hasProject ? config : withoutProjects(config),
      ...["auth.json", "managed_config.toml"].map((name) => fingerprint(join(home, name))),
      ...["managed_config.toml", "requirements.toml"].map((name) => fingerprint(join(SYSTEM_FOLDER, name))),
      ...[SYSTEM_FOLDER, ...projects].map((path) => readText(join(path, "config.toml"))),
      ...[home, SYSTEM_FOLDER, ...projects].flatMap((path) =>
        ["agents", "rules"].flatMap((name) => fingerprintFolder(join(path, name))),
      ),
    ]),
  };
}

/** Finds the project configurations of a folder and its parents. */
function findProjectFolders(folder: string, home: string): string[] {
  const config = join(folder, ".codex");
  // Sandboxes leave empty folders of this name behind.
  const own = config !== home && listFolder(config).length > 0 ? [config] : [];
  const parent = dirname(folder);
  return parent === folder ? own : [...own, ...findProjectFolders(parent, home)];
}

/** Removes the project entries, which Codex itself adds. Without a project configuration they don't matter. */
function withoutProjects(config: string): string {
  return config
    .replaceAll(/^\[projects\..*(?:\n(?!\[).*)*/gm, "")
    .replaceAll(/\n+/g, "\n")
    .trimEnd();
}

function fingerprintFolder(folder: string): string[] {
  return listFolder(folder).map((name) => `${name} ${fingerprint(join(folder, name))}`);
}

function listFolder(folder: string): string[] {
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

function fingerprint(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";
}
