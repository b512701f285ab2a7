import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, parse } from "node:path";

type Variables = Readonly<Record<string, string>>;

/** Where an administrator configures Codex. */
const SYSTEM_FOLDER = "/etc/codex";

/**
 * Identifies the content of the files that codex reads only when it starts: the configuration that it warns of, and the
 * credentials. Everything else it reads again for every turn. A turn after a change starts another codex.
 */
export function startUpFiles(env: Variables): string {
  const home = codexHome(env);
  return JSON.stringify([
    configText(join(home, "config.toml")),
    ...["auth.json", "managed_config.toml"].map((name) => version(join(home, name))),
    ...["config.toml", "managed_config.toml", "requirements.toml"].map((name) =>
      version(join(SYSTEM_FOLDER, name)),
    ),
  ]);
}

/**
 * The folder that codex is started in. At its start it warns of the configuration of the project that it is started in,
 * so a folder of a project with a configuration needs a codex of its own. All others share one, in no project.
 */
export function startUpFolder(folder: string, env: Variables): string {
  return hasProjectConfig(folder, codexHome(env)) ? folder : parse(folder).root;
}

function codexHome(env: Variables): string {
  return env["CODEX_HOME"] || join(env["HOME"] ?? homedir(), ".codex");
}

function hasProjectConfig(folder: string, home: string): boolean {
  const config = join(folder, ".codex");
  if (config !== home && statSync(config, { throwIfNoEntry: false })) return true;
  const above = dirname(folder);
  return above !== folder && hasProjectConfig(above, home);
}

/** Without the tables of trusted projects: codex itself adds to them when it works in a new folder. */
function configText(path: string): string {
  try {
    const text = readFileSync(path, "utf8");
    return text
      .replaceAll(/^\[projects\..*(?:\n(?!\[).*)*/gm, "")
      .replaceAll(/\n+/g, "\n")
      .trimEnd();
  } catch {
    return "";
  }
}

function version(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";
}
