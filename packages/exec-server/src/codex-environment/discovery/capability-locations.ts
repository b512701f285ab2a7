import { open, readdir } from "node:fs/promises";
import { constants, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { runFileOperation } from "../../files/operations.ts";
import type { WalkResult } from "../../wire/exec-wire.ts";
import { pathUri } from "../../wire/path-uri.ts";
import { CODES, Refusal } from "../../wire/refusal.ts";
import { activeVersion } from "./plugin-version.ts";

/** A folder to search: an installed plugin, or a folder of skills that don't belong to a plugin. */
export type CapabilityLocation =
  | { readonly kind: "plugin"; readonly root: string; readonly plugin: InstalledPlugin }
  | { readonly kind: "skills"; readonly root: string; readonly id: string };

export interface InstalledPlugin {
  readonly id: string;
  readonly remotePluginId: string | null;
  readonly version: string;
}

const MAX_LOCATIONS = 512;
const INSTALL_FILE = ".codex-remote-plugin-install.json";
const INSTALL_BYTES = 16 * 1024;
const REMOTE_ID_BYTES = 1024;

const PACKAGES = { maxDepth: 1, maxDirectories: 2_000, maxEntries: 20_000, followDirectorySymlinks: true };

/** Returns the folders of the user's plugins and skills. Adds problems with plugins to `warnings`. */
export async function capabilityLocations(warnings: string[]): Promise<CapabilityLocation[]> {
  const home = codexHome();
  const plugins = await installedPlugins(join(home, "plugins/cache"), warnings);
  const skills = [
    { id: "codex-home-skills", path: join(home, "skills") },
    { id: "user-agent-skills", path: join(homedir(), ".agents/skills") },
    { id: "system-skills", path: "/etc/codex/skills" },
  ];
  return [
    ...plugins,
    ...skills.map(({ id, path }) => ({ kind: "skills" as const, id, root: pathUri(path) })),
  ];
}

/** Returns the real path of `CODEX_HOME`, as Codex does, or the default path unresolved. */
function codexHome(): string {
  const chosen = process.env["CODEX_HOME"];
  if (chosen === undefined || chosen === "") return join(homedir(), ".codex");
  try {
    return realpathSync(chosen);
  } catch {
    throw new Refusal(
      CODES.internal,
      `CODEX_HOME points to ${JSON.stringify(chosen)}, but that path can't be read`,
    );
  }
}

/**
 * Finds the installed plugins. The cache contains `MARKETPLACE/NAME/VERSION`; one version of each plugin is
 * active.
 */
async function installedPlugins(cache: string, warnings: string[]): Promise<CapabilityLocation[]> {
  const packages = new Map<string, string>();
  for (const path of await packageFolders(pathUri(cache), warnings)) {
    const [marketplace = "", name, ...deeper] = path.split("/");
    if (name === undefined || deeper.length > 0) continue;
    if (!/^[A-Za-z0-9_-]+$/.test(marketplace) || !/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(name))
      continue;
    packages.set(`${name}@${marketplace}`, join(cache, path));
  }
  const found: CapabilityLocation[] = [];
  for (const [id, folder] of [...packages].toSorted(([left], [right]) => (left < right ? -1 : 1))) {
    const children = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const version = activeVersion(children.filter((child) => child.isDirectory()).map(({ name }) => name));
    if (version === undefined) continue;
    if (found.length === MAX_LOCATIONS) {
      warnings.push(`plugin cache reached its ${MAX_LOCATIONS}-location limit`);
      break;
    }
    const remotePluginId = await remoteId(join(folder, INSTALL_FILE)).catch(() => {
      warnings.push(`could not read remote installation metadata for ${id}`);
      return null;
    });
    const root = pathUri(join(folder, version));
    found.push({ kind: "plugin", root, plugin: { id, remotePluginId, version } });
  }
  return found;
}

/** Returns the folders below the cache, as relative paths. */
async function packageFolders(cache: string, warnings: string[]): Promise<string[]> {
  try {
    const walk = (await runFileOperation("fs/walk", { path: cache, options: PACKAGES })) as WalkResult;
    if (walk.truncated) warnings.push("plugin cache traversal limit reached");
    return walk.entries
      .filter(({ kind }) => kind === "directory")
      .map(({ path }) => path.slice(cache.length + 1));
  } catch (error) {
    if (error instanceof Refusal && error.rpcCode === CODES.notFound) return [];
    throw error;
  }
}

/** Reads the ID of the plugin in its remote marketplace. Does not block if the file is a named pipe. */
async function remoteId(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  });
  if (!file) return null;
  await using _closed = file;
  const status = await file.stat();
  if (!status.isFile() || status.size > INSTALL_BYTES)
    throw new TypeError("The metadata is not a small file.");
  return readRemoteId(await file.readFile("utf8"));
}

function readRemoteId(contents: string): string {
  const value: unknown = JSON.parse(contents);
  const { schema_version: schema, remote_plugin_id: id } = (value ?? {}) as Record<string, unknown>;
  const trimmed = typeof id === "string" ? id.trim() : "";
  if (schema !== 1 || trimmed === "" || Buffer.byteLength(trimmed) > REMOTE_ID_BYTES) {
    throw new TypeError("The metadata of the installation is invalid.");
  }
  return trimmed;
}
